//! The call tree as stacks.

use anyhow::{Result, bail};
use tsc_runtime::{CallsiteReport, Context, Report};

use crate::rows::path;

/// The name of the calls that the tree had no room for.
pub const OTHER: &str = "<other>";

/// Checks that there is a tree.
pub fn require(report: &Report) -> Result<()> {
    if report.contexts().is_empty() {
        bail!("the report has no call tree: record it with `cargo tsc run --tree`");
    }
    Ok(())
}

/// The callsite of a context; `None` of the calls that the tree had no room for.
pub fn callsite<'a>(report: &'a Report, context: &Context) -> Option<&'a CallsiteReport> {
    context
        .callsite()
        .and_then(|index| report.callsites().get(index as usize))
}

/// The name of a context's function.
pub fn name(report: &Report, context: &Context) -> String {
    callsite(report, context).map_or_else(|| OTHER.to_owned(), path)
}

/// A context and those it was called from, itself first.
pub fn stack<'a>(report: &'a Report, context: &'a Context) -> impl Iterator<Item = &'a Context> {
    let caller = |context: &&'a Context| {
        context
            .parent()
            .map(|parent| &report.contexts()[parent as usize])
    };
    std::iter::successors(Some(context), caller)
}

/// Ticks as formats have them: whole, and never below 0, which the correction for probes may leave of very short functions.
pub fn whole(ticks: f64) -> i64 {
    ticks.max(0.0).round() as i64
}

/// A name or an argument in a format of which each line has a meaning.
pub fn line_of_text(text: &str) -> String {
    text.replace(char::is_control, " ")
}
