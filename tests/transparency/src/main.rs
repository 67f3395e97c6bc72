//! Puts `#[cycles]` on crates that nobody wrote for it, and runs their own unit tests before and after.
//!
//! `cargo run --release --manifest-path tests/transparency/Cargo.toml [CRATE…]`: without names, all of `crates.txt`. Prints a markdown
//! table, and fails unless everything builds and the same tests pass.

#![forbid(unsafe_code)]

mod annotate;
mod fetch;
mod project;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, io};

use annotate::Where;
use project::{Outcome, Project};

fn main() -> io::Result<ExitCode> {
    let wanted: Vec<String> = env::args().skip(1).collect();
    println!(
        "| crate | attribute on | attributes | profile | tests passing, bare | annotated | s, bare | annotated | same |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut all_same = true;
    for line in include_str!("../crates.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        let mut words = line.split_whitespace().map(str::to_owned);
        let Some(name) = words.next() else {
            continue;
        };
        if wanted.is_empty() || wanted.contains(&name) {
            all_same &= compare(&name, words.any(|word| word == "doc"))?;
        }
    }
    Ok(if all_same {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// One crate, both profiles, both places. Whether all is as before.
fn compare(name: &str, doc: bool) -> io::Result<bool> {
    let scratch = scratch();
    let target = scratch.join("target");
    let (version, source) = fetch::newest(name, &scratch)?;
    let copy = |form: &str, place| Project::copy(&source, &scratch.join(form).join(name), place);
    let bare = copy("bare", None)?;
    let annotated = [
        ("functions", copy("functions", Some(Where::Functions))?),
        ("blocks", copy("blocks", Some(Where::Blocks))?),
    ];
    let mut all_same = true;
    for release in [false, true] {
        let before = bare.test(release, doc, &target)?;
        for (place, project) in &annotated {
            let after = project.test(release, doc, &target)?;
            let same = is_same(&before, &after);
            all_same &= same;
            println!(
                "| {name} {version} | {place} | {} | {} | {} | {} | {:.1} | {:.1} | {} |",
                project.attributes,
                if release { "release" } else { "debug" },
                before.passed.len(),
                after.passed.len(),
                before.took.as_secs_f64(),
                after.took.as_secs_f64(),
                if same { "yes" } else { "**no**" },
            );
            explain(&before, &after);
        }
    }
    Ok(all_same)
}

fn is_same(before: &Outcome, after: &Outcome) -> bool {
    before.build_errors.is_empty()
        && after.build_errors.is_empty()
        && before.passed == after.passed
        && before.failed == after.failed
}

fn explain(before: &Outcome, after: &Outcome) {
    if !before.build_errors.is_empty() {
        eprintln!("bare:\n{}", before.build_errors);
    }
    if !after.build_errors.is_empty() {
        eprintln!("annotated:\n{}", after.build_errors);
    }
    for test in before.passed.difference(&after.passed) {
        eprintln!("passes no more: {test}");
    }
}

fn scratch() -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target"));
    target.join("transparency")
}
