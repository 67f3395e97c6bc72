//! The program with a known call tree, `overhead --bin tree`, which compares each function with the time of its work alone.

use std::io;
use std::path::Path;
use std::process::Command;

use crate::Row;

/// The rows of so many runs.
pub(crate) fn measure(runs: usize) -> io::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for _ in 0..runs {
        let output = Command::new("cargo")
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../overhead"))
            .args([
                "run",
                "--quiet",
                "--release",
                "--bin",
                "tree",
                "--",
                "--errors",
            ])
            .env("TSC_REPORT", "off")
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let said = || io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned());
        for line in text.lines() {
            rows.push(row(line).ok_or_else(said)?);
        }
    }
    Ok(rows)
}

fn row(line: &str) -> Option<Row> {
    let mut fields = line.split(' ');
    let name = fields.next()?.to_owned();
    let mut number = || fields.next()?.parse().ok();
    Some(Row {
        name,
        own: number()?,
        error: number()?,
        truth: number()?,
    })
}
