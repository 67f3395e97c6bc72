//! Compares the call tree's counts with callgrind's: the calls from each function to each other one, in programs that were not written for
//! either.
//!
//! `cargo run --release --manifest-path studies/transparency/Cargo.toml --bin call_counts [PROGRAM…]` fetches the programs' crates from the
//! public registry. It runs them annotated with `TSC_TREE=1`, and without attributes and optimisation under callgrind. It prints a table
//! and each difference, and fails if there is one.

#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::{env, io};

use transparency::programs::calls::{Arcs, Names, arcs};
use transparency::programs::process::run_with_tree;
use transparency::programs::run::Context;
use transparency::programs::{FURTHER, Form, PROGRAMS, Program, build};
use transparency::{cargo, fetch};

/// The programs that are compared if none is named.
const DEFAULT: [&str; 3] = ["miniz_oxide", "pulldown-cmark", "rust_lisp"];

fn main() -> io::Result<ExitCode> {
    let wanted: Vec<String> = env::args().skip(1).collect();
    let scratch = cargo::scratch("call_counts")?;
    println!(
        "| program | version | functions | million calls | pairs | exactly equal | recursive functions | calls of them equal |\n|---|---|---|---|---|---|---|---|"
    );
    let mut is_same = true;
    for program in PROGRAMS.iter().chain(&FURTHER) {
        let is_default = DEFAULT.contains(&program.name);
        if wanted.is_empty() && is_default || wanted.iter().any(|name| name == program.name) {
            is_same &= compare(program, &scratch)?;
        }
    }
    Ok(if is_same {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn compare(program: &Program, scratch: &Path) -> io::Result<bool> {
    let (version, source) = fetch::newest(program.name, scratch)?;
    let (annotated, _) = build(program, &source, scratch, Form::Timed)?;
    let report = run_with_tree(&annotated)?.report;
    let contexts = report.map(|report| report.contexts).unwrap_or_default();
    let mut names = Names::default();
    let ours = of_tree(&contexts, &mut names);
    let (plain, _) = build(program, &source, scratch, Form::AsWritten)?;
    let theirs = arcs(&plain, &names)?;
    let recursive = recursive(&theirs);
    // A context contains each function only once, so calls inside a recursion count in the context of the outermost call. For these calls,
    // only the sum is the same.
    let pairs: BTreeSet<&(String, String)> = ours.keys().chain(theirs.keys()).collect();
    let pairs: Vec<_> = pairs
        .into_iter()
        .filter(|(_, callee)| !recursive.contains(callee))
        .collect();
    let different: Vec<_> = pairs
        .iter()
        .filter(|pair| ours.get(*pair) != theirs.get(*pair))
        .collect();
    let calls = |arcs: &Arcs, name: &str| -> u64 {
        let of = arcs.iter().filter(|((_, callee), _)| callee == name);
        of.map(|(_, calls)| calls).sum()
    };
    let differing: Vec<_> = recursive
        .iter()
        .filter(|name| calls(&ours, name) != calls(&theirs, name))
        .collect();
    println!(
        "| {} | {version} | {} | {:.2} | {} | {} | {} | {} |",
        program.name,
        names.len(),
        ours.values().sum::<u64>() as f64 / 1e6,
        pairs.len(),
        pairs.len() - different.len(),
        recursive.len(),
        recursive.len() - differing.len()
    );
    for pair @ (caller, callee) in different.iter().copied() {
        let count = |arcs: &Arcs| arcs.get(*pair).copied().unwrap_or(0);
        eprintln!(
            "{caller} > {callee}: {} here, {} by callgrind",
            count(&ours),
            count(&theirs)
        );
    }
    for name in &differing {
        eprintln!(
            "{name}: {} here, {} by callgrind",
            calls(&ours, name),
            calls(&theirs, name)
        );
    }
    Ok(!pairs.is_empty() && different.is_empty() && differing.is_empty())
}

/// The calls by the names of the rows, which are added to `names`. The caller of the outermost function has no name.
fn of_tree(contexts: &[Context], names: &mut Names) -> Arcs {
    let mut arcs = Arcs::new();
    for context in contexts {
        let (module, name) = &context.caller;
        let caller = if name.is_empty() {
            String::new()
        } else {
            names.add(module, name)
        };
        let (module, name) = &context.callee;
        let pair = (caller, names.add(module, name));
        *arcs.entry(pair).or_default() += context.calls;
    }
    arcs
}

/// The functions that call themselves, directly or through others.
fn recursive(arcs: &Arcs) -> BTreeSet<String> {
    let callees = |name: &String| {
        let of = arcs.keys().filter(move |(caller, _)| caller == name);
        of.map(|(_, callee)| callee.clone()).collect::<Vec<_>>()
    };
    let names: BTreeSet<&String> = arcs.keys().map(|(_, callee)| callee).collect();
    let reaches_itself = |name: &String| {
        let (mut reached, mut open) = (BTreeSet::new(), callees(name));
        while let Some(next) = open.pop() {
            if reached.insert(next.clone()) {
                open.extend(callees(&next));
            }
        }
        reached.contains(name)
    };
    names
        .into_iter()
        .filter(|name| reaches_itself(name))
        .cloned()
        .collect()
}
