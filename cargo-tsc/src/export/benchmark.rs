//! Formats of services that follow benchmarks over time: Bencher's metric format, and `customSmallerIsBetter` of github-action-benchmark.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::{Value, json};

use crate::command_line::Metric;
use crate::diff::values;
use crate::progress::counted;
use crate::session::Session;
use crate::statistics::{median, range};

/// Bencher's format: each function's self time in a run, in ticks, and the time of a call, in nanoseconds. The bounds are the smallest and
/// the greatest run.
pub fn bmf(session: &Session) -> Result<String> {
    let mut functions: BTreeMap<String, BTreeMap<&str, Value>> = BTreeMap::new();
    let hz = session.sum()?.clock().hz();
    let per_call = hz.map(|hz| (Metric::SelfPerCall, "latency", 1e9 / hz));
    for (metric, measure, scale) in [Some((Metric::SelfTime, "self-ticks", 1.0)), per_call]
        .into_iter()
        .flatten()
    {
        for (name, values) in values(session, metric) {
            let runs = values.runs.iter().zip(&values.called);
            // There is no time of a call in a run without one.
            let runs = runs.filter(|&(_, &calls)| metric == Metric::SelfTime || calls > 0.0);
            let runs: Vec<f64> = runs.map(|(run, _)| *run).collect();
            let Some(middle) = median(&runs) else {
                continue;
            };
            let (least, greatest) = range(&runs);
            let value = json!({ "value": middle * scale, "lower_value": least * scale, "upper_value": greatest * scale });
            functions.entry(name).or_default().insert(measure, value);
        }
    }
    Ok(serde_json::to_string_pretty(&functions)? + "\n")
}

/// The format of github-action-benchmark: each function's self time in a run.
pub fn github(session: &Session) -> Result<String> {
    let mut entries = Vec::new();
    for (name, values) in values(session, Metric::SelfTime) {
        let Some(middle) = median(&values.runs) else {
            continue;
        };
        let calls = counted(values.calls as usize, "call");
        let runs = counted(values.runs.len(), "run");
        let mut entry = json!({
            "name": name,
            "unit": "ticks",
            "value": middle,
            "extra": format!("{calls}, {runs}"),
        });
        // A single run does not show by how much runs differ.
        if values.runs.len() > 1 {
            let (least, greatest) = range(&values.runs);
            entry["range"] = format!("± {:.0}", (greatest - least) / 2.0).into();
        }
        entries.push(entry);
    }
    Ok(serde_json::to_string_pretty(&entries)? + "\n")
}
