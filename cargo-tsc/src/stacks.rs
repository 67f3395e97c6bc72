//! The call tree as stacks.

use tsc_report::{Context, Report};

use crate::rows::path;

pub use tsc_report::__private::OTHER;

/// The names of a context's function and of its callers, the outermost first.
pub fn names(report: &Report, context: &Context) -> Vec<String> {
    let rows = stack(report, context).map(|context| report.callsite_of(context));
    let names = rows.map(|row| row.map_or_else(|| OTHER.to_owned(), path));
    let mut names: Vec<String> = names.collect();
    names.reverse();
    names
}

/// A context and its callers, from the context itself outwards.
pub fn stack<'a>(report: &'a Report, context: &'a Context) -> impl Iterator<Item = &'a Context> {
    let caller = |context: &&'a Context| {
        context
            .parent()
            .map(|parent| &report.contexts()[parent as usize])
    };
    std::iter::successors(Some(context), caller)
}

/// Ticks as the formats require them: whole and not negative. Very short functions may have negative ticks after the correction for
/// probes.
pub fn whole_ticks(ticks: f64) -> i64 {
    ticks.max(0.0).round() as i64
}

/// Makes a name or an argument fit into a single line.
pub fn line_of_text(text: &str) -> String {
    text.replace(char::is_control, " ")
}
