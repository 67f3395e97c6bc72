//! Adds `#[cycles]` to crates that were not written for it, and runs their own tests before and after.
//!
//! `cargo run --release --manifest-path studies/transparency/Cargo.toml [CRATE…]` uses all of `crates.txt` if no names are given. It prints
//! a Markdown table, and fails unless everything can be built and the same tests pass.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::{env, io};

use cargo_tsc::annotate::Where;
use transparency::project::{Outcome, Project};
use transparency::{cargo, fetch};

fn main() -> io::Result<ExitCode> {
    let wanted: Vec<String> = env::args().skip(1).collect();
    println!(
        "| crate | version | attribute on | attributes | profile | tests passing, bare | annotated | s, bare | annotated | same |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut all_same = true;
    for subject in include_str!("../crates.txt")
        .lines()
        .filter_map(Subject::parse)
    {
        if wanted.is_empty() || wanted.iter().any(|name| name == subject.name) {
            all_same &= compare(&subject)?;
        }
    }
    Ok(if all_same {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// A line of `crates.txt`.
struct Subject<'a> {
    name: &'a str,
    doc: bool,
    /// The crate that contains its tests, and an additional dependency of these tests.
    tests: Option<(&'a str, &'a str)>,
}

impl<'a> Subject<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let name = words.next().filter(|name| *name != "#")?;
        let mut doc = false;
        let mut tests = None;
        for word in words {
            doc |= word == "doc";
            tests = tests.or(word
                .strip_prefix("tests=")
                .and_then(|is| is.split_once('+')));
        }
        Some(Self { name, doc, tests })
    }
}

/// Tests one crate in both profiles, with attributes in both places. Returns whether the results are the same as without attributes.
fn compare(subject: &Subject<'_>) -> io::Result<bool> {
    let &Subject { name, doc, tests } = subject;
    let scratch = cargo::scratch("transparency")?;
    let target = scratch.join("target");
    let (version, source) = fetch::newest(name, &scratch)?;
    let copy = |form: &str, place| {
        let dir = scratch.join(form);
        let mut project = Project::copy(&source, &dir.join(name), place)?;
        if let Some((crate_of_tests, also)) = tests {
            let (_, source) = fetch::newest(crate_of_tests, &scratch)?;
            project.test_by(&source, &dir.join(crate_of_tests), name, also)?;
        }
        io::Result::Ok(project)
    };
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
                "| {name} | {version} | {place} | {} | {} | {} | {} | {:.1} | {:.1} | {} |",
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
    let mut passed = after.passed.clone();
    for test in &before.passed {
        match passed.iter().position(|name| name == test) {
            Some(at) => drop(passed.swap_remove(at)),
            None => eprintln!("passes no more: {test}"),
        }
    }
}
