//! Rows that call crates without probes: the time of these crates is in the rows, and the user is told how to see it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{
    Block, ExprAsync, ExprClosure, ImplItemFn, Item, ItemFn, Signature, TraitItemFn, UseTree,
};
use tsc_report::Report;

use super::Place;
use super::known::FileDigests;
use crate::annotate;
use crate::sources::plain;

/// If rows with a greater share of the CPU time call such crates, this is said.
const SAID: f64 = 1.0 / 3.0;
/// Crates are named if the rows that call them have at least this share.
const NAMED: f64 = 0.05;
/// At most so many are named.
const NAMES: usize = 4;
/// Names that are imported from many crates, and say nothing about calls.
const COMMON: [&str; 4] = ["Context", "Error", "Result", "self"];

/// The crates without probes, by the names that code uses for them.
pub type Unopened = BTreeMap<String, String>;

/// What is said, if there is something to say. `files` are the annotated sources.
#[must_use]
pub fn remark(
    report: &Report,
    root: &Path,
    files: &FileDigests,
    unopened: &Unopened,
) -> Option<String> {
    let calls = calls(files, unopened);
    let all = report.self_sum();
    let mut share = 0.0;
    let mut shares: BTreeMap<&str, f64> = BTreeMap::new();
    for row in report.callsites() {
        let Some(crates) = calls.get(&(plain(&root.join(row.file())), row.line())) else {
            continue;
        };
        let own = row.self_on_cpu() / all;
        share += own;
        for name in crates {
            *shares.entry(name).or_default() += own;
        }
    }
    if share.is_nan() || share <= SAID {
        return None;
    }
    let mut named: Vec<(&str, f64)> = shares
        .into_iter()
        .filter(|&(_, own)| own >= NAMED)
        .collect();
    named.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut names: Vec<String> = Vec::new();
    for (name, _) in named {
        let name = family(name, unopened);
        if !names.contains(&name) && names.len() < NAMES {
            names.push(name);
        }
    }
    let with = if names.is_empty() {
        "--with-deps".to_owned()
    } else {
        format!("--with {} (all: --with-deps)", names.join(" "))
    };
    Some(format!(
        "{:.0} % of the CPU time is in rows whose code names crates without probes; this opens them: {with}",
        share * 100.0
    ))
}

/// The pattern for a crate and those that belong to it, as `jaq-core` to `jaq-all`.
fn family(name: &str, unopened: &Unopened) -> String {
    let Some((stem, _)) = name.split_once('-') else {
        return name.to_owned();
    };
    let begin = format!("{stem}-");
    let packages: BTreeSet<&String> = unopened.values().collect();
    match packages
        .iter()
        .filter(|other| other.starts_with(&begin))
        .count()
    {
        0 | 1 => name.to_owned(),
        _ => format!("'{begin}*'"),
    }
}

/// Whether a package, by its name, declares functions of C and has hardly any of its own: none of them can have a probe.
fn only_declares(package: &str) -> bool {
    package == "libc" || package.ends_with("-sys")
}

/// The packages that each function names.
fn calls(files: &FileDigests, unopened: &Unopened) -> BTreeMap<Place, BTreeSet<String>> {
    let parsed: Vec<(&PathBuf, syn::File)> = files
        .keys()
        .filter_map(|path| {
            let text = std::fs::read_to_string(path).ok()?;
            Some((path, annotate::parse(&text).ok()?.0))
        })
        .collect();
    // A name that one module imports, others of the package may import from there.
    let mut of_packages: BTreeMap<Option<&Path>, Names> = BTreeMap::new();
    for (path, file) in &parsed {
        let names = of_packages.entry(sources(path)).or_default();
        for (name, package) in unopened {
            names.add(name, package);
        }
        names.collect(&file.items, unopened);
    }
    let mut calls = BTreeMap::<Place, BTreeSet<String>>::new();
    for (path, file) in &parsed {
        let mut functions = Functions {
            names: &of_packages[&sources(path)],
            found: Vec::new(),
        };
        functions.visit_file(file);
        for (line, crates) in functions.found {
            let place = ((*path).clone(), line);
            calls.entry(place).or_default().extend(crates);
        }
    }
    calls
}

/// The folder of a package's sources.
fn sources(file: &Path) -> Option<&Path> {
    let mut folders = file.ancestors();
    folders.find(|folder| folder.file_name().is_some_and(|name| name == "src"))
}

/// The packages that a name in the source leads to.
#[derive(Debug, Default)]
struct Names(BTreeMap<String, BTreeSet<String>>);

impl Names {
    fn add(&mut self, name: &str, package: &str) {
        if !COMMON.contains(&name) && !only_declares(package) {
            self.0
                .entry(name.to_owned())
                .or_default()
                .insert(package.to_owned());
        }
    }

    /// Adds what these items import, and what they give other names to.
    fn collect(&mut self, items: &[Item], unopened: &Unopened) {
        for item in items {
            match item {
                Item::Use(item) => {
                    if let UseTree::Path(path) = &item.tree
                        && let Some(package) = unopened.get(&path.ident.to_string())
                    {
                        self.imported(&path.tree, package);
                    }
                }
                Item::Type(item) => {
                    for package in self.found(item.ty.to_token_stream()) {
                        self.add(&item.ident.to_string(), &package);
                    }
                }
                Item::Mod(module) => {
                    let inner = module.content.as_ref().map(|(_, items)| items.as_slice());
                    self.collect(inner.unwrap_or_default(), unopened);
                }
                _ => {}
            }
        }
    }

    fn imported(&mut self, tree: &UseTree, package: &str) {
        match tree {
            UseTree::Path(path) => self.imported(&path.tree, package),
            UseTree::Name(name) => self.add(&name.ident.to_string(), package),
            UseTree::Rename(renamed) => self.add(&renamed.rename.to_string(), package),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.imported(tree, package);
                }
            }
            _ => {}
        }
    }

    /// The packages that these tokens name. The names of macros do not count, because what they expand to is not known.
    fn found(&self, tokens: TokenStream) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let is_sign = |at: usize, sign: char| matches!(trees.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == sign);
        for (at, tree) in trees.iter().enumerate() {
            match tree {
                TokenTree::Group(group) => found.extend(self.found(group.stream())),
                TokenTree::Ident(ident) => {
                    // `a::b::c!`
                    let mut end = at;
                    while is_sign(end + 1, ':') && is_sign(end + 2, ':') {
                        end += 3;
                    }
                    let is_macro = is_sign(end + 1, '!') && !is_sign(end + 2, '=');
                    let is_member = at > 0 && is_sign(at - 1, '.');
                    // `anyhow::Result`
                    let is_common = matches!(trees.get(end), Some(TokenTree::Ident(last)) if COMMON.iter().any(|name| last == name));
                    if !is_macro && !is_member && !is_common {
                        found.extend(
                            self.0
                                .get(&ident.to_string())
                                .into_iter()
                                .flatten()
                                .cloned(),
                        );
                    }
                }
                _ => {}
            }
        }
        found
    }
}

struct Functions<'a> {
    names: &'a Names,
    /// The line of each function or closure that names a package.
    found: Vec<(u32, BTreeSet<String>)>,
}

impl Functions<'_> {
    fn add(&mut self, sig: &Signature, body: &Block) {
        let mut tokens = sig.inputs.to_token_stream();
        tokens.extend(sig.output.to_token_stream());
        tokens.extend(body.to_token_stream());
        self.add_at(sig.ident.span(), tokens);
    }

    fn add_at(&mut self, place: Span, tokens: TokenStream) {
        let crates = self.names.found(tokens);
        if !crates.is_empty() {
            self.found.push((place.start().line as u32, crates));
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        if let Some(body) = &function.default {
            self.add(&function.sig, body);
        }
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_expr_closure(&mut self, closure: &'ast ExprClosure) {
        self.add_at(closure.body.span(), closure.to_token_stream());
        visit::visit_expr_closure(self, closure);
    }

    fn visit_expr_async(&mut self, block: &'ast ExprAsync) {
        self.add_at(block.span(), block.to_token_stream());
        visit::visit_expr_async(self, block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_name_the_crates_that_they_call() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("main.rs");
        let text = "use work_core::{run, part::Filter as F, Error};\ntype Alias = serde::Value;\n\
            fn calls() { run() }\nfn takes(filter: &F) { filter.go() }\nfn fails() -> log::Result<Error> { log::debug!(\"{}\", 1) }\n\
            fn writes() { println!(\"{}\", serde::to()) }\nfn aliased(alias: Alias) {}\nfn field(x: X) { x.run }\n\
            fn passes() { t(1,\n|x: F| { 1 });\nasync { log::LOG } }\nfn made(by: By) -> log::Result<serde::Value> { by.go() }\n\
            fn forks() { libc::fork() }\nfn sends() { z_sys::send() }\n";
        std::fs::write(&file, text).unwrap();
        let unopened = [
            ("work_core", "work-core"),
            ("serde", "serde"),
            ("log", "log"),
            ("libc", "libc"),
            ("z_sys", "z-sys"),
        ];
        let unopened = unopened
            .map(|(name, package)| (name.to_owned(), package.to_owned()))
            .into();
        let calls = calls(&FileDigests::from([(file, 0)]), &unopened);
        let found: Vec<(u32, Vec<&str>)> = calls
            .iter()
            .map(|((_, line), crates)| (*line, crates.iter().map(String::as_str).collect()))
            .collect();
        let one = |line, name| (line, vec![name]);
        assert_eq!(
            found,
            [
                one(3, "work-core"),
                one(4, "work-core"),
                one(6, "serde"),
                one(7, "serde"),
                (9, vec!["log", "work-core"]),
                one(10, "work-core"),
                one(11, "log"),
                one(12, "serde"),
            ]
        );
    }

    #[test]
    fn crates_of_one_family_are_one_pattern() {
        let unopened = ["jaq-all", "jaq-core", "hifijson", "a-b"]
            .map(|name| (name.to_owned(), name.to_owned()));
        let unopened = unopened.into();
        let named = ["jaq-all", "hifijson", "a-b"].map(|name| family(name, &unopened));
        assert_eq!(named, ["'jaq-*'", "hifijson", "a-b"]);
    }
}
