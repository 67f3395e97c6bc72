//! The modules of each crate depend on each other in one direction only.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use tests::folder::Folder;

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tsc-core/src");

/// The crates, each with two uses that must be found if any is.
const CRATES: [(&str, [[&str; 2]; 2]); 4] = [
    ("tsc-attr", [["expand", "function"], ["function", "refuse"]]),
    ("tsc-core", [["probe", "registry"], ["live", "calibration"]]),
    ("tsc-report", [["text", "data"], ["derive", "data"]]),
    ("cargo-tsc", [["verbs", "all"], ["all", "build"]]),
];

/// For each module of a folder, the other ones that its code names.
type Edges = BTreeMap<String, BTreeSet<String>>;

/// The modules at the top of a crate, which name each other as `crate::module`.
fn edges(name: &str) -> Edges {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    let mut edges = edges_in(&sources.join("src"), "crate");
    // These name what others may use, and nobody names them.
    edges.retain(|module, _| !["lib", "main", "private"].contains(&module.as_str()));
    edges
}

/// The modules in `folder`, whose paths to each other begin with `root`.
fn edges_in(folder: &Path, root: &str) -> Edges {
    let mut edges = Edges::new();
    let for_tests = files_for_tests(&folder.join("mod.rs"));
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("it can be listed").path();
        let module = path.file_stem().and_then(|stem| stem.to_str());
        let module = module.expect("it is a name").to_owned();
        if !for_tests.contains(&format!("{module}.rs")) {
            add_edges(&path, root, edges.entry(module).or_default());
        }
    }
    let modules: BTreeSet<String> = edges.keys().cloned().collect();
    for (module, used) in &mut edges {
        used.retain(|used| used != module && modules.contains(used));
    }
    edges
}

fn add_edges(path: &Path, root: &str, edges: &mut BTreeSet<String>) {
    if path.is_dir() {
        let for_tests = files_for_tests(&path.join("mod.rs"));
        for entry in fs::read_dir(path).expect("it is a folder") {
            let entry = entry.expect("it can be listed");
            if !for_tests.contains(&entry.file_name().to_string_lossy().into_owned()) {
                add_edges(&entry.path(), root, edges);
            }
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        let text = fs::read_to_string(path).expect("it can be read");
        let tokens: TokenStream = text.parse().expect("it is Rust");
        add_paths(&tokens.into_iter().collect::<Vec<_>>(), root, edges);
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

/// Adds what follows each `root::`, but in items under `#[cfg(test)]`.
fn add_paths(tokens: &[TokenTree], root: &str, edges: &mut BTreeSet<String>) {
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
                TokenTree::Ident(first),
                TokenTree::Punct(_),
                TokenTree::Punct(_),
                used,
                ..,
            ] if first == root => match used {
                TokenTree::Ident(module) => _ = edges.insert(module.to_string()),
                TokenTree::Group(list) => add_list(list.stream(), edges),
                _ => {}
            },
            [TokenTree::Group(group), ..] => {
                add_paths(&group.stream().into_iter().collect::<Vec<_>>(), root, edges);
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
    for (name, uses) in CRATES {
        let edges = edges(name);
        for [module, used] in uses {
            assert!(edges[module].contains(used), "{module} uses {used}");
        }
        let circles = circles(edges);
        assert!(
            circles.is_empty(),
            "in {name}, these go round in circles or lead there: {circles:#?}"
        );
    }
}

#[test]
fn hot_modules_know_nothing_of_reports() {
    let edges = edges("tsc-core");
    for module in ["tsc", "interruption", "on_cpu", "record", "tick_clock"] {
        for cold in ["calibration", "events", "hooks", "registry", "live"] {
            assert!(!edges[module].contains(cold), "{module} uses {cold}");
        }
    }
}

#[test]
fn no_file_of_the_probe_uses_itself_through_others() {
    let mut edges = edges_in(&Path::new(SOURCES).join("probe"), "super");
    // Its files are the lowest ones, and the modules in `light` name each other in the same way.
    edges.retain(|module, _| module != "mod" && module != "light");
    assert!(edges["unusual"].contains("stop") && edges["stop"].contains("slowest"));
    assert_no_circles(edges);
}

#[test]
fn no_part_of_the_reports_uses_itself_through_others() {
    let folder = Path::new(SOURCES).join("live");
    let mut edges = edges_in(&folder, "live");
    for (module, used) in edges_in(&folder, "super") {
        edges.entry(module).or_default().extend(used);
    }
    // It begins the parts, which use nothing of it.
    edges.remove("mod");
    assert!(edges["exit"].contains("output") && edges["output"].contains("collect"));
    assert_no_circles(edges);
}

fn assert_no_circles(edges: Edges) {
    let circles = circles(edges);
    assert!(
        circles.is_empty(),
        "these go round in circles: {circles:#?}"
    );
}

/// The files in `folder` that name each other, as `super::file` or `folder::file`, and go round in circles; likewise in the folders below.
fn circles_of_files(folder: &Path, found: &mut Vec<(String, Edges)>) {
    let name = folder.file_name().and_then(|name| name.to_str());
    let name = name.expect("it is a name");
    let for_tests = files_for_tests(&folder.join("mod.rs"));
    let mut edges = Edges::new();
    for entry in fs::read_dir(folder).expect("it is a folder") {
        let path = entry.expect("it can be listed").path();
        let file = path.file_name().and_then(|file| file.to_str());
        let file = file.expect("it is a name");
        if path.is_dir() {
            circles_of_files(&path, found);
        } else if let Some(module) = file.strip_suffix(".rs")
            && module != "mod"
            && !for_tests.iter().any(|other| other == file)
        {
            let edges = edges.entry(module.to_owned()).or_default();
            add_edges(&path, "super", edges);
            add_edges(&path, name, edges);
            edges.remove(module);
        }
    }
    let files: BTreeSet<String> = edges.keys().cloned().collect();
    edges
        .values_mut()
        .for_each(|used| used.retain(|used| files.contains(used)));
    let circles = circles(edges);
    if !circles.is_empty() {
        found.push((name.to_owned(), circles));
    }
}

#[test]
fn no_file_uses_itself_through_its_neighbours() {
    let mut found = Vec::new();
    // What must be found if anything is.
    let folder = Folder::new("modules");
    for (file, used) in [("a.rs", "super::b"), ("b.rs", "c::a"), ("d.rs", "super::a")] {
        fs::create_dir_all(folder.path("c")).expect("it is a folder of this test");
        fs::write(folder.path("c").join(file), format!("use {used};")).expect("as above");
    }
    circles_of_files(&folder.0, &mut found);
    let circles = found.pop().map(|(_, circles)| circles);
    assert_eq!(
        circles.unwrap_or_default().keys().collect::<Vec<_>>(),
        ["a", "b", "d"]
    );
    let cargo_tsc = Path::new(SOURCES).join("../../cargo-tsc/src");
    let report = Path::new(SOURCES).join("../../tsc-report/src");
    for root in [Path::new(SOURCES), &report, &cargo_tsc] {
        for entry in fs::read_dir(root).expect("the sources are there") {
            let path = entry.expect("it can be listed").path();
            if path.is_dir() {
                circles_of_files(&path, &mut found);
            }
        }
    }
    assert!(
        found.is_empty(),
        "these go round in circles or lead there: {found:#?}"
    );
}

#[test]
fn circle_is_found() {
    let edges = [("a", "b"), ("b", "c"), ("c", "b"), ("d", "e")];
    let edges = edges.map(|(module, used)| (module.to_owned(), [used.to_owned()].into()));
    let left = circles(edges.into());
    assert_eq!(left.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
}
