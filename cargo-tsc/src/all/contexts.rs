//! The call paths of a run, and whose time is in which row if some rows are left out.

use tsc_report::Report;

/// A call path: a row, called from another path.
#[derive(Debug)]
pub struct Context {
    /// Its row. `None` for what has none.
    pub row: Option<usize>,
    /// The index of the path that it was called from, which comes before it.
    pub parent: Option<usize>,
    /// Ticks without callees.
    pub self_ticks: f64,
}

/// All of a report.
#[must_use]
pub fn all(report: &Report) -> Vec<Context> {
    let contexts = report.contexts().iter().map(|context| Context {
        row: context.callsite().map(|row| row as usize),
        parent: context.parent().map(|parent| parent as usize),
        self_ticks: context.self_ticks(),
    });
    contexts.collect()
}

/// The row that has the time of each context: the caller's, if its own is left out and there is a caller.
#[must_use]
pub fn owners(contexts: &[Context], is_left_out: impl Fn(usize) -> bool) -> Vec<Option<usize>> {
    let mut owners: Vec<Option<usize>> = Vec::with_capacity(contexts.len());
    for context in contexts {
        let caller = context.parent.and_then(|parent| owners.get(parent));
        owners.push(match caller {
            Some(&caller) if context.row.is_some_and(&is_left_out) => caller,
            _ => context.row,
        });
    }
    owners
}
