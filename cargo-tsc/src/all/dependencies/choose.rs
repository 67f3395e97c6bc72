//! Which crates the user wants to be annotated.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, bail};
use cargo_metadata::{Package, PackageId};

use super::graph::{Graph, is_macro, with_version};
use crate::build;
use crate::nearest::nearest;

/// What the user has asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Packages whose names match one of these patterns, in which `*` is any text and `?` any character, but none that begins with `!`. If
    /// all begin so, all other packages.
    Named(Vec<String>),
    /// All.
    All,
}

/// The crates to annotate.
#[derive(Debug, Default)]
pub struct Chosen {
    /// Their identities.
    pub crates: BTreeSet<PackageId>,
    /// What was asked for, and cannot be annotated, in words.
    pub not_annotated: Vec<String>,
}

/// Finds the crates that are asked for.
///
/// `allocator` are the crates of the program's allocator, which get no probes.
///
/// # Errors
/// If a pattern matches no dependency.
pub fn choose(
    graph: &Graph<'_>,
    wanted: &Wanted,
    allocator: &BTreeSet<&PackageId>,
) -> Result<Chosen> {
    let dependencies = graph.dependencies();
    let built = dependencies.filter(|package| graph.is_built(&package.id));
    let mut asked: Vec<&Package> = Vec::new();
    let mut excluded = BTreeSet::new();
    let mut is_all = true;
    if let Wanted::Named(patterns) = wanted {
        for pattern in patterns {
            match pattern.strip_prefix('!') {
                Some(pattern) => {
                    excluded.extend(matching(graph, pattern)?.iter().map(|package| &package.id));
                }
                None => {
                    asked.extend(matching(graph, pattern)?);
                    is_all = false;
                }
            }
        }
    }
    asked.extend(built.filter(|_| is_all));
    asked.retain(|package| !excluded.contains(&package.id));
    let mut chosen = Chosen::default();
    let (mut macros, mut elsewhere, mut allocating) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for package in asked {
        let name = with_version(package);
        if is_macro(package) {
            macros.insert(name);
        } else if !graph.is_in_program(&package.id) {
            elsewhere.insert(name);
        } else if allocator.contains(&package.id) {
            allocating.insert(name);
        } else {
            chosen.crates.insert(package.id.clone());
        }
    }
    chosen.say(macros, "macros, which run in the compiler");
    chosen.say(
        elsewhere,
        "not in the program: only build scripts, macros, tests, other features or other programs use them",
    );
    chosen.say(
        allocating,
        "the program's memory allocator, in which a probe could wait for itself, or what it uses",
    );
    chosen.leave_doubled(graph);
    Ok(chosen)
}

impl Chosen {
    /// Says why crates with these names and versions are not annotated, if there are any.
    fn say(&mut self, names: BTreeSet<String>, why: &str) {
        if !names.is_empty() {
            let names: Vec<String> = names.into_iter().collect();
            self.not_annotated
                .push(format!("{}: {why}", names.join(", ")));
        }
    }

    /// Leaves out the crates that cannot be copied, or are used by one that cannot.
    fn leave_doubled(&mut self, graph: &Graph<'_>) {
        while let Some(doubled) = graph.doubled(&graph.with_users(&self.crates)).pop_first() {
            let crates = std::mem::take(&mut self.crates).into_iter();
            let (left, kept) = crates.partition::<BTreeSet<_>, _>(|id| {
                let copied = graph.with_users(&BTreeSet::from([id.clone()]));
                copied.contains(doubled)
            });
            self.crates = kept;
            let names = left.iter().map(|id| with_version(graph.package(id)));
            let why = format!(
                "build scripts, macros or other programs use {}, too, and a build cannot have two of it",
                with_version(graph.package(doubled))
            );
            self.say(names.collect(), &why);
        }
    }
}

/// The dependencies whose names match.
fn matching<'a>(graph: &Graph<'a>, pattern: &str) -> Result<Vec<&'a Package>> {
    let expression = build::pattern(pattern).with_context(|| format!("--with {pattern}"))?;
    let matches = |package: &&Package| expression.is_match(&package.name);
    let found: Vec<&Package> = graph.dependencies().filter(matches).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    if graph.members().iter().any(matches) {
        bail!(
            "--with {pattern}: --all measures the workspace's own packages already; --with is for dependencies"
        );
    }
    let names: BTreeSet<&str> = graph
        .dependencies()
        .map(|package| package.name.as_str())
        .collect();
    match nearest(pattern, names) {
        names if names.is_empty() => {
            bail!("--with {pattern}: the program has no dependencies that can be measured")
        }
        names => bail!(
            "--with {pattern}: no dependency has such a name; the nearest are {}",
            names.join(", ")
        ),
    }
}
