//! Closures that need no row of their own.

use std::collections::{BTreeMap, BTreeSet};

use tsc_report::{CallsiteReport, Report};

use super::contexts;

/// The closures of a run that, as far as is known, run only in calls of the function in which they are written. Without a probe, their time is
/// this function's.
#[derive(Debug, Default)]
pub struct Inner {
    /// Their rows.
    pub rows: BTreeSet<usize>,
    /// The ticks that other rows get from them.
    pub ticks: BTreeMap<usize, f64>,
}

impl Inner {
    /// Those in a report.
    #[must_use]
    pub fn of(report: &Report) -> Self {
        let (contexts, callsites) = (contexts::all(report), report.callsites());
        let (mut inner, mut others) = (BTreeSet::new(), BTreeSet::new());
        for context in &contexts {
            let caller = context.parent.and_then(|parent| contexts.get(parent)?.row);
            let function_of = |row: usize| callsites.get(row).map(function);
            if let Some(row) = context.row
                && callsites.get(row).is_some_and(is_closure)
            {
                let is_inner = caller.and_then(function_of) == function_of(row);
                let rows = if is_inner { &mut inner } else { &mut others };
                rows.insert(row);
            }
        }
        let mut rows = &inner - &others;
        // In one line, all closures have a probe, or none.
        let place = |row: usize| callsites.get(row).map(|row| (row.file(), row.line()));
        let others = (0..callsites.len()).filter(|row| !rows.contains(row));
        let kept: BTreeSet<_> = others.map(place).collect();
        rows.retain(|row| !kept.contains(&place(*row)));
        let mut ticks = BTreeMap::new();
        let owners = contexts::owners(&contexts, |row| rows.contains(&row));
        for (context, owner) in contexts.iter().zip(owners) {
            if let Some(owner) = owner.filter(|_| context.row != owner) {
                *ticks.entry(owner).or_default() += context.self_ticks;
            }
        }
        Self { rows, ticks }
    }
}

fn is_closure(row: &CallsiteReport) -> bool {
    row.name().contains("::{closure#")
}

/// The function in which a closure is written, or the function itself.
fn function(row: &CallsiteReport) -> (&str, &str, &str) {
    let name = row.name();
    let function = name
        .split_once("::{closure#")
        .map_or(name, |(function, _)| function);
    (row.module(), row.file(), function)
}

#[cfg(test)]
mod tests {
    use tsc_report::Context;

    use super::*;

    /// A report with these rows, and contexts of a row, a parent and self ticks.
    fn report(rows: &[&str], contexts: &[(usize, Option<usize>, u64)]) -> Report {
        let mut json = serde_json::to_value(Report::default()).unwrap();
        let rows = rows.iter().enumerate().map(|(line, name)| {
            let mut row = serde_json::to_value(CallsiteReport::default()).unwrap();
            row["name"] = (*name).into();
            row["line"] = line.into();
            row
        });
        json["callsites"] = rows.collect();
        let contexts = contexts.iter().map(|&(row, parent, ticks)| {
            let mut context = serde_json::to_value(Context::default()).unwrap();
            context["callsite"] = row.into();
            context["parent"] = parent.into();
            context["self_ticks"] = ticks.into();
            context
        });
        json["contexts"] = contexts.collect();
        Report::from_json(&json.to_string()).unwrap()
    }

    #[test]
    fn the_time_of_what_only_its_function_runs_is_the_functions() {
        let rows = [
            "main",
            "f",
            "f::{closure#0}",
            "f::{closure#0}::{closure#0}",
            "f::{closure#1}",
            "main::{closure#0}",
        ];
        let contexts = [
            (0, None, 1),
            (1, Some(0), 2),
            (2, Some(1), 4),
            (3, Some(2), 8),
            (4, Some(1), 16),
            (4, Some(0), 32),
            (5, None, 64),
            (2, Some(4), 128),
        ];
        let inner = Inner::of(&report(&rows, &contexts));
        assert_eq!(inner.rows, BTreeSet::from([2, 3]));
        // What the closure runs that keeps its row is that row's.
        assert_eq!(inner.ticks, BTreeMap::from([(1, 12.0), (4, 128.0)]));
    }
}
