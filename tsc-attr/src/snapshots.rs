//! Compares the expansion of each file in `snapshots` with its `.expanded.rs`, token by token, so that the expanded files can be formatted
//! for reading.
//!
//! `TSC_ATTR_SNAPSHOTS=overwrite cargo test -p tsc-attr` writes the expanded files again; format and review them.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Group, TokenStream, TokenTree};

use crate::args::Args;
use crate::block;
use crate::expand;
use crate::function::Function;
use crate::items;

#[path = "../../tests/generated.rs"]
mod generated;

fn inputs() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots");
    let files = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files
        .filter(|file| !file.to_string_lossy().ends_with(".expanded.rs"))
        .collect();
    files.sort();
    files
}

/// Expands the one item of a file, which begins with its `#[cycles…]`.
fn expand(source: &str) -> TokenStream {
    let source: TokenStream = source.parse().unwrap();
    let mut trees: Vec<TokenTree> = source.into_iter().collect();
    let attr: Vec<TokenTree> = trees.drain(..2).collect();
    let args = crate::nested_attr::NestedAttr::split(&attr).args().unwrap();
    let item = trees.iter().cloned().collect();
    if items::is_block(&items::keyword(&trees).to_string()) {
        return block::expand(&args, item).unwrap().measured;
    }
    expand::function(&args, &Function::parse(item).unwrap()).unwrap()
}

/// Removes these tokens, because the formatter adds and removes them.
fn without_trailing_commas(tokens: TokenStream) -> TokenStream {
    let mut trees: Vec<TokenTree> = tokens.into_iter().collect();
    if matches!(trees.last(), Some(TokenTree::Punct(comma)) if comma.as_char() == ',') {
        trees.pop();
    }
    let inside = |tree| match tree {
        TokenTree::Group(group) => {
            let content = without_trailing_commas(group.stream());
            TokenTree::Group(Group::new(group.delimiter(), content))
        }
        tree => tree,
    };
    trees.into_iter().map(inside).collect()
}

#[test]
fn expansions_are_as_reviewed() {
    let overwrite =
        std::env::var_os("TSC_ATTR_SNAPSHOTS").is_some_and(|value| value == "overwrite");
    let inputs = inputs();
    assert!(inputs.len() >= 9);
    for input in inputs {
        let expanded = expand(&fs::read_to_string(&input).unwrap()).to_string();
        let snapshot = input.with_extension("expanded.rs");
        if overwrite {
            fs::write(&snapshot, &expanded).unwrap();
        }
        let reviewed: TokenStream = fs::read_to_string(&snapshot).unwrap().parse().unwrap();
        let text = |tokens| without_trailing_commas(tokens).to_string().replace(' ', "");
        let (expanded, reviewed) = (text(expanded.parse().unwrap()), text(reviewed));
        assert_eq!(expanded, reviewed, "{}", input.display());
    }
}

#[test]
fn every_snapshot_shows_that_the_macro_ran() {
    for input in inputs() {
        let snapshot = fs::read_to_string(input.with_extension("expanded.rs")).unwrap();
        let ran = ["Probe::<", "polled::<", "LightProbe::", "light_polled("]
            .iter()
            .any(|probe| snapshot.contains(probe));
        assert!(ran, "{}", input.display());
    }
}

/// The number of tokens that the attribute adds to a function of each shape, which is what it costs the compiler at least. A path such as
/// `::tsc_runtime::__private::` is eight tokens.
#[test]
fn tokens_added_are_as_listed() {
    fn count(tokens: TokenStream) -> usize {
        let count = |tree| match tree {
            TokenTree::Group(group) => 2 + count(group.stream()),
            _ => 1,
        };
        tokens.into_iter().map(count).sum()
    }
    let added = |source: &str| {
        let annotated = expand(&format!("#[cycles] {source}"));
        count(annotated) - count(source.parse().unwrap())
    };
    let mut table = String::from("| function | tokens added |\n|---|---|\n");
    for (source, tokens) in [
        ("fn f() {}", 137),
        ("fn f(a: u64) { g(a) }", 137),
        ("fn f(a: u64) -> u64 { a + 1 }", 172),
        (
            "fn f(&mut self, a: u64) -> u64 { self.b += a; self.b }",
            172,
        ),
        ("fn f() -> impl Iterator<Item = u64> { 0..3 }", 141),
        ("async fn f(a: u64) -> u64 { a + 1 }", 197),
    ] {
        assert_eq!(added(source), tokens, "{source}");
        table += &format!("| `{source}` | {tokens} |\n");
    }
    generated::check_part("transparency.md", "cargo test -p tsc-attr", &table);
}

#[test]
fn an_argument_in_two_attributes_is_refused() {
    let joined: TokenStream = "name = \"a\", name = \"b\"".parse().unwrap();
    assert!(Args::parse(joined).is_err());
}
