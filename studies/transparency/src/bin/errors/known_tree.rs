//! The program with a known call tree, `overhead --bin tree`, which compares each function with the time of its work alone.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::Command;

use transparency::programs::process::run_with_report;

use crate::Row;
use crate::report::{Report, name};

/// The rows of so many runs.
pub(crate) fn measure(runs: usize, scratch: &Path) -> io::Result<Vec<Row>> {
    let file = scratch.join("known_tree.json");
    let mut rows = Vec::new();
    for _ in 0..runs {
        let mut command = Command::new("cargo");
        command
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../overhead"))
            .args(["run", "--quiet", "--release", "--bin", "tree"])
            .args(["--", "--work"]);
        let text = run_with_report(&mut command, &file)?;
        let truths: BTreeMap<&str, f64> = text.lines().filter_map(work).collect();
        let report = Report::read(&file)?;
        rows.extend(report.callsites().filter_map(|callsite| {
            let name = name(callsite);
            report.row(name.to_owned(), callsite, *truths.get(name)?)
        }));
    }
    Ok(rows)
}

/// A function and the ticks of its work.
fn work(line: &str) -> Option<(&str, f64)> {
    let (name, ticks) = line.split_once(' ')?;
    Some((name, ticks.parse().ok()?))
}
