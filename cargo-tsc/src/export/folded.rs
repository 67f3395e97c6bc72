//! Folded stacks: `outer;inner 123`, for inferno, flamegraph.pl and speedscope.

use std::fmt::Write as _;

use anyhow::Result;
use tsc_runtime::Report;

use super::stacks::{line_of_text, name, require, stack};

/// Some readers make a sample of each count, so there are no more of them in all.
const MOST: f64 = 1e6;

/// A line for each context that took time of its own.
pub fn text(report: &Report) -> Result<String> {
    require(report)?;
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
        let mut names: Vec<String> = stack(report, context)
            .map(|context| line_of_text(&name(report, context)).replace(';', ","))
            .collect();
        names.reverse();
        writeln!(text, "{} {count}", names.join(";"))?;
    }
    Ok(text)
}
