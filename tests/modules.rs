//! The modules of the runtime depend on each other in one direction only.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tsc-runtime/src");

/// For each module at the top, the other ones that its code names as `crate::module`.
type Edges = BTreeMap<String, BTreeSet<String>>;

fn edges() -> Edges {
    let mut edges = Edges::new();
    for entry in fs::read_dir(SOURCES).expect("the sources are there") {
        let path = entry.expect("it can be listed").path();
        let module = path.file_stem().and_then(|stem| stem.to_str());
        let module = module.expect("it is a name").to_owned();
        add_edges(&path, edges.entry(module).or_default());
    }
    // These name what others may use, and nobody names them.
    edges.retain(|module, _| module != "lib" && module != "private");
    let modules: BTreeSet<String> = edges.keys().cloned().collect();
    for (module, used) in &mut edges {
        used.retain(|used| used != module && modules.contains(used));
    }
    edges
}

fn add_edges(path: &Path, edges: &mut BTreeSet<String>) {
    if path.is_dir() {
        let for_tests = files_for_tests(&path.join("mod.rs"));
        for entry in fs::read_dir(path).expect("it is a folder") {
            let entry = entry.expect("it can be listed");
            if !for_tests.contains(&entry.file_name().to_string_lossy().into_owned()) {
                add_edges(&entry.path(), edges);
            }
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        let text = fs::read_to_string(path).expect("it can be read");
        let tokens: TokenStream = text.parse().expect("it is Rust");
        add_paths(&tokens.into_iter().collect::<Vec<_>>(), edges);
    }
}

/// The files whose modules this one declares under `#[cfg(test)]`.
fn files_for_tests(module: &Path) -> Vec<String> {
    let text = fs::read_to_string(module).unwrap_or_default();
    let lines = text.lines().zip(text.lines().skip(1));
    lines
        .filter(|(attribute, _)| is_for_tests(attribute.trim_start_matches('#')))
        .filter_map(|(_, item)| item.strip_suffix(';')?.rsplit_once("mod "))
        .map(|(_, name)| format!("{name}.rs"))
        .collect()
}

/// Adds what follows each `crate::`, but in items under `#[cfg(test)]`.
fn add_paths(tokens: &[TokenTree], edges: &mut BTreeSet<String>) {
    let mut index = 0;
    while index < tokens.len() {
        match &tokens[index..] {
            [TokenTree::Punct(hash), TokenTree::Group(attribute), ..]
                if hash.as_char() == '#' && is_for_tests(&attribute.to_string()) =>
            {
                let is_end = |tree: &TokenTree| match tree {
                    TokenTree::Punct(end) => end.as_char() == ';',
                    TokenTree::Group(body) => body.to_string().starts_with('{'),
                    _ => false,
                };
                let end = tokens[index..].iter().position(is_end);
                index = end.map_or(tokens.len(), |end| index + end + 1);
                continue;
            }
            [
                TokenTree::Ident(root),
                TokenTree::Punct(_),
                TokenTree::Punct(_),
                used,
                ..,
            ] if root == "crate" => match used {
                TokenTree::Ident(module) => _ = edges.insert(module.to_string()),
                TokenTree::Group(list) => add_list(list.stream(), edges),
                _ => {}
            },
            [TokenTree::Group(group), ..] => {
                add_paths(&group.stream().into_iter().collect::<Vec<_>>(), edges);
            }
            _ => {}
        }
        index += 1;
    }
}

/// The first names in `{a, b::c, d::{e, f}}`.
fn add_list(list: TokenStream, edges: &mut BTreeSet<String>) {
    let mut is_first = true;
    for tree in list {
        match tree {
            TokenTree::Ident(module) if is_first => {
                edges.insert(module.to_string());
                is_first = false;
            }
            TokenTree::Punct(comma) if comma.as_char() == ',' => is_first = true,
            _ => {}
        }
    }
}

fn is_for_tests(attribute: &str) -> bool {
    let attribute: String = attribute.split_whitespace().collect();
    attribute.starts_with("[cfg(test") || attribute.starts_with("[cfg(all(test")
}

/// Takes away all modules that use none of those that are left, again and again. What is left goes round in circles.
fn circles(mut edges: Edges) -> Edges {
    loop {
        let left: BTreeSet<String> = edges.keys().cloned().collect();
        edges.retain(|_, used| used.iter().any(|used| left.contains(used)));
        if edges.len() == left.len() {
            return edges;
        }
    }
}

#[test]
fn no_module_uses_itself_through_others() {
    let edges = edges();
    // What must be there if they were found at all.
    assert!(edges["probe"].contains("registry") && edges["live"].contains("calibration"));
    let circles = circles(edges);
    assert!(
        circles.is_empty(),
        "these go round in circles or lead there: {circles:#?}"
    );
}

#[test]
fn hot_modules_know_nothing_of_reports() {
    let edges = edges();
    for module in ["tsc", "interruption", "on_cpu", "record", "tick_clock"] {
        for cold in ["calibration", "events", "hooks", "registry", "live"] {
            assert!(!edges[module].contains(cold), "{module} uses {cold}");
        }
    }
}

#[test]
fn circle_is_found() {
    let edges = [("a", "b"), ("b", "c"), ("c", "b"), ("d", "e")];
    let edges = edges.map(|(module, used)| (module.to_owned(), [used.to_owned()].into()));
    let left = circles(edges.into());
    assert_eq!(left.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
}
