//! The program with a known call tree, `overhead --bin tree`, which compares each function with the time of its work alone.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::Command;

use crate::Row;
use crate::report::{Report, name};

/// The rows of so many runs.
pub(crate) fn measure(runs: usize, scratch: &Path) -> io::Result<Vec<Row>> {
    let file = scratch.join("known_tree.json");
    let mut rows = Vec::new();
    for _ in 0..runs {
        let output = Command::new("cargo")
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../overhead"))
            .args(["run", "--quiet", "--release", "--bin", "tree"])
            .args(["--", "--work"])
            .env("TSC_REPORT", "json")
            .env("TSC_REPORT_FILE", &file)
            .output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(said.into_owned()));
        }
        let text = String::from_utf8_lossy(&output.stdout);
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
