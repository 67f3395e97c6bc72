//! The shares of the crates.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use transparency::programs::crates::of_symbol;
use transparency::programs::stacks::{Frame, Stack};

/// Shares of the CPU time, by crate.
pub type Shares = BTreeMap<String, f64>;

/// The shares of the self time in a report.
pub fn of_report(report: &Value) -> Shares {
    let mut shares = Shares::new();
    let rows = report["report"]["callsites"].as_array();
    for row in rows.into_iter().flatten() {
        let module = row["module"].as_str().unwrap_or_default();
        let krate = module.split("::").next().unwrap_or(module);
        let ticks = ["self_on_cpu_ticks", "self_ticks"];
        let ticks = ticks.iter().find_map(|key| row[key].as_f64());
        *shares.entry(krate.to_owned()).or_default() += ticks.unwrap_or(0.0);
    }
    normalised(shares)
}

/// The functions of a frame, innermost first.
pub type Functions = fn(&Frame) -> Vec<&String>;

/// What is written there, even if it is inlined into something else.
pub fn as_written(frame: &Frame) -> Vec<&String> {
    match frame.inlined.is_empty() {
        true => vec![&frame.symbol],
        false => frame.inlined.iter().collect(),
    }
}

/// The function of the executable.
pub fn as_linked(frame: &Frame) -> Vec<&String> {
    vec![&frame.symbol]
}

/// The shares of the samples. One in a crate without a row, like the standard library, is that of the crate that called it.
pub fn of_stacks(stacks: &[Stack], rows: &BTreeSet<String>, functions: Functions) -> Shares {
    let mut shares = Shares::new();
    for stack in stacks {
        let mut crates = stack
            .iter()
            .flat_map(functions)
            .filter_map(|name| of_symbol(name));
        if let Some(krate) = crates.find(|krate| rows.contains(krate)) {
            *shares.entry(krate).or_default() += 1.0;
        }
    }
    normalised(shares)
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
