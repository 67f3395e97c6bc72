//! The shares of the crates.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use transparency::programs::stacks::{Files, Stack};

/// Shares of the CPU time, by package.
pub type Shares = BTreeMap<String, f64>;

/// The shares of the self time in a report.
pub fn of_report(report: &Value) -> Shares {
    let mut shares = Shares::new();
    let rows = report["report"]["callsites"].as_array();
    for row in rows.into_iter().flatten() {
        let package = row["file"].as_str().and_then(package);
        let ticks = ["self_on_cpu_ticks", "self_ticks"];
        let ticks = ticks.iter().find_map(|key| row[key].as_f64());
        *shares.entry(package.unwrap_or_default()).or_default() += ticks.unwrap_or(0.0);
    }
    normalised(shares)
}

/// The files of a place in the executable, innermost first.
pub type Choice = fn(&Files) -> &[String];

/// What is written there, even if it is inlined into something else.
pub fn as_written(files: &Files) -> &[String] {
    files
}

/// The function of the executable.
pub fn as_linked(files: &Files) -> &[String] {
    &files[files.len().saturating_sub(1)..]
}

/// The shares of the samples. One in a package without a row, like the standard library, is that of the package that called it.
pub fn of_stacks(stacks: &[Stack], rows: &BTreeSet<String>, choice: Choice) -> Shares {
    let mut shares = Shares::new();
    for stack in stacks {
        let mut packages = stack
            .iter()
            .flat_map(choice)
            .filter_map(|file| package(file));
        if let Some(package) = packages.find(|package| rows.contains(package)) {
            *shares.entry(package).or_default() += 1.0;
        }
    }
    normalised(shares)
}

/// The package that a file belongs to: name and version of a dependency, or `program`. The standard library is none.
fn package(file: &str) -> Option<String> {
    if let Some((_, inner)) = file.split_once("/registry/src/") {
        return inner.split('/').nth(1).map(str::to_owned);
    }
    let is_std = file.starts_with("/rustc/") || file.contains("/rustlib/src/");
    (!is_std && !file.contains("tsc-runtime/")).then(|| "program".to_owned())
}

fn normalised(mut shares: Shares) -> Shares {
    let sum: f64 = shares.values().sum();
    shares.values_mut().for_each(|share| *share /= sum);
    shares
}

/// The greatest difference, in points.
pub fn farthest(a: &Shares, b: &Shares) -> f64 {
    let keys = a.keys().chain(b.keys());
    let of = |shares: &Shares, key| shares.get(key).copied().unwrap_or(0.0);
    let differences = keys.map(|key| (of(a, key) - of(b, key)).abs());
    100.0 * differences.fold(0.0, f64::max)
}
