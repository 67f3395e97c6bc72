//! The crates that the program's memory allocator consists of. A probe's first call allocates, and would wait for a lock that the allocator holds.

use std::collections::BTreeSet;
use std::fs;

use cargo_metadata::{Package, PackageId};

use super::graph::Graph;
use crate::annotate;

/// Those that a `#[global_allocator]` in the workspace names, and those that these use.
#[must_use]
pub fn crates<'a>(graph: &Graph<'a>) -> BTreeSet<&'a PackageId> {
    let mut left = Vec::new();
    for member in graph.members() {
        let words = words(member);
        let names = graph.names(&member.id);
        left.extend(names.filter_map(|(name, id)| words.contains(name).then_some(id)));
    }
    let mut found = BTreeSet::new();
    while let Some(id) = left.pop() {
        if found.insert(id) {
            left.extend(graph.uses(id));
        }
    }
    found
}

/// The words of what chooses the allocator in a package.
fn words(package: &Package) -> BTreeSet<String> {
    let roots = package.targets.iter().map(|target| &target.src_path);
    // What cannot be read, the compiler complains about.
    let files = roots.filter_map(|root| annotate::files_of(root.as_std_path()).ok());
    let texts = files
        .flat_map(|files| files.code)
        .filter_map(|file| fs::read_to_string(file).ok());
    let chosen = texts.filter(|text| text.contains("global_allocator"));
    let parsed = chosen.filter_map(|text| annotate::parse(&text).ok());
    parsed
        .flat_map(|(file, _)| annotate::words_of_allocator(&file))
        .collect()
}
