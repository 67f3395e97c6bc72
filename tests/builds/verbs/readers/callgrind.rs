//! callgrind_annotate, which comes with Valgrind.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::recorded;
use crate::project::{Project, skipped};

/// A function in the output of callgrind_annotate: its ticks, and its calls of other functions with their ticks.
#[derive(Debug, Default)]
struct Function {
    ticks: i64,
    callees: BTreeMap<String, (u64, i64)>,
}

/// The functions of `callgrind.out` in the project, or `None` if the program is not installed.
fn annotated(folder: &Path, inclusive: &str) -> Option<(i64, BTreeMap<String, Function>)> {
    let output = Command::new("callgrind_annotate")
        .args(["--tree=both", "--threshold=100", "--auto=no"])
        .args([inclusive, "callgrind.out"])
        .current_dir(folder)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).unwrap();
    let complaints = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && complaints.is_empty(),
        "{complaints}"
    );
    let (mut total, mut functions) = (0, BTreeMap::<String, Function>::new());
    let mut function = String::new();
    for line in text.lines() {
        if let Some((ticks, _)) = line.split_once("PROGRAM TOTALS") {
            total = number(ticks);
        } else if let Some((ticks, name)) = line.split_once(" *  ") {
            name_of(name).clone_into(&mut function);
            functions.entry(function.clone()).or_default().ticks = number(ticks);
        } else if let Some((ticks, call)) = line.split_once(" >   ") {
            let (name, calls) = call.rsplit_once(" (").unwrap();
            let calls = number(calls.split('x').next().unwrap());
            let callees = &mut functions.get_mut(&function).unwrap().callees;
            callees.insert(
                name_of(name).to_owned(),
                (calls.cast_unsigned(), number(ticks)),
            );
        }
    }
    Some((total, functions))
}

/// Parses `1,234 (56.7%)`.
fn number(text: &str) -> i64 {
    let digits = text.split_whitespace().next().unwrap().replace(',', "");
    digits.parse().unwrap_or_else(|_| panic!("{text}"))
}

/// The function's name without the file before it and the object after it.
fn name_of(text: &str) -> &str {
    let name = text
        .split_once(".rs:")
        .or_else(|| text.split_once("???:"))
        .unwrap();
    name.1.trim_end_matches(" []")
}

#[test]
fn callgrind_annotate_has_our_sums() {
    let recorded = recorded();
    recorded.export("callgrind", "callgrind.out");
    let folder = recorded.project.path("");
    let Some((total, inclusive)) = annotated(&folder, "--inclusive=yes") else {
        return skipped("there is no callgrind_annotate");
    };
    let (_, own) = annotated(&folder, "--inclusive=no").unwrap();
    assert_eq!(total, recorded.all());
    for (name, sums) in recorded.functions() {
        assert_eq!(inclusive[name].ticks, sums.inclusive, "{name}");
        let found = own.get(name).map_or(0, |function| function.ticks);
        assert_eq!(found, sums.own, "{name}");
    }
    // The calls of each caller, and the ticks in these calls.
    let mut arcs = BTreeMap::<(&str, &str), (u64, i64)>::new();
    for context in &recorded.contexts {
        let caller = context.parent.map(|parent| &recorded.contexts[parent].name);
        let caller = caller.map_or("<root>", String::as_str);
        let arc = arcs.entry((caller, &context.name)).or_default();
        *arc = (arc.0 + context.calls, arc.1 + context.inclusive);
    }
    let mut found = 0;
    for (caller, function) in &inclusive {
        for (callee, arc) in &function.callees {
            assert_eq!(arcs.get(&(caller, callee)), Some(arc), "{caller} {callee}");
            found += 1;
        }
    }
    assert_eq!(found, arcs.len());
}

/// `main` has not returned when the report is made, so it does not count as a call and has no self ticks.
#[test]
fn callee_of_a_call_that_runs_has_its_ticks() {
    let project = Project::new(
        r#"
use std::hint::black_box;

#[tsc_runtime::cycles]
fn work() -> u64 {
    (0..3000).fold(1, |x, i: u64| black_box(x * (i | 1) % 1_000_003))
}

#[tsc_runtime::cycles]
fn main() {
    black_box(work() + work());
    std::process::exit(0);
}
"#,
    );
    project.tsc("run --tree --name exits").ends(0);
    project
        .tsc("export exits --format callgrind -o callgrind.out")
        .ends(0);
    let folder = project.path("");
    let Some((total, functions)) = annotated(&folder, "--inclusive=no") else {
        return skipped("there is no callgrind_annotate");
    };
    // Neither `main` nor its caller has self ticks: all ticks are in the two calls of `work`.
    assert!(total > 0);
    for name in ["app::main", "<root>"] {
        let own = functions.get(name).map_or(0, |function| function.ticks);
        assert_eq!(own, 0, "{name}");
    }
    assert_eq!(functions["app::work"].ticks, total);
    assert_eq!(functions["app::main"].callees["app::work"], (2, total));
}
