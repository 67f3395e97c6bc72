//! Folded stacks: `outer;inner 123`, for inferno, flamegraph.pl and speedscope.

use std::fmt::Write as _;

use anyhow::Result;
use tsc_report::Report;

use crate::stacks::{line_of_text, names};

/// Some readers make one sample for each count, so the sum of the counts is limited to this.
const MOST: f64 = 1e6;

/// Writes a line for each context with self time.
pub fn text(report: &Report) -> Result<String> {
    let all: f64 = report
        .contexts()
        .iter()
        .map(|context| context.self_ticks().max(0.0))
        .sum();
    let scale = (MOST / all.max(1.0)).min(1.0);
    let mut text = String::new();
    for context in report.contexts() {
        let count = (context.self_ticks() * scale).round();
        if count < 1.0 {
            continue;
        }
        let names = names(report, context).into_iter();
        let names: Vec<String> = names
            .map(|name| line_of_text(&name).replace(';', ","))
            .collect();
        writeln!(text, "{} {count}", names.join(";"))?;
    }
    Ok(text)
}
