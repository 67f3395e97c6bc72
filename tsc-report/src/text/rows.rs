//! The rows of the dump in their order.

use std::cmp::Ordering;

use super::{TextOptions, TextSort};
use crate::data::share;
use crate::order::sorted;
use crate::{CallsiteReport, Report};

/// The rows that are shown, in order.
pub struct Rows<'a> {
    /// These rows.
    pub shown: Vec<&'a CallsiteReport>,
    /// How many others there are.
    pub(super) left_out: usize,
    /// The self ticks of all rows.
    pub(super) self_sum: f64,
}

impl<'a> Rows<'a> {
    /// Those for which `is_wanted`. Shares are of all rows.
    #[must_use]
    pub fn new(
        report: &'a Report,
        options: &TextOptions,
        is_wanted: &dyn Fn(&CallsiteReport) -> bool,
    ) -> Self {
        let rows = &report.callsites;
        let wanted: Vec<_> = rows.iter().filter(|row| is_wanted(row)).collect();
        let mut shown = sorted(&wanted, &|one, other| compare(options.sort, one, other));
        let left_out = shown.len().saturating_sub(options.top);
        shown.truncate(options.top);
        Self {
            shown,
            left_out,
            self_sum: report.self_sum(),
        }
    }

    /// The row's share of the sum of all self ticks, in percent.
    pub(super) fn self_share(&self, row: &CallsiteReport) -> f64 {
        share(row.own(), self.self_sum) * 100.0
    }
}

impl CallsiteReport {
    /// The self ticks as they are shown. The average cost of probes is subtracted from them, which may have been more than was in these calls.
    #[doc(hidden)]
    #[must_use]
    pub fn own(&self) -> f64 {
        self.self_on_cpu().max(0.0)
    }
}

impl Report {
    /// The self ticks of all rows.
    #[doc(hidden)]
    #[must_use]
    pub fn self_sum(&self) -> f64 {
        self.callsites.iter().map(CallsiteReport::own).sum()
    }
}

/// The greatest first; equal rows stay in the report's order.
fn compare(sort: TextSort, one: &CallsiteReport, other: &CallsiteReport) -> Ordering {
    let known = |key: Option<f64>| key.unwrap_or(f64::NEG_INFINITY);
    let by = |key: &dyn Fn(&CallsiteReport) -> f64| key(other).total_cmp(&key(one));
    match sort {
        TextSort::SelfTicks => by(&CallsiteReport::self_on_cpu),
        TextSort::Total => by(&|row| row.total_ticks),
        TextSort::Wall => by(&|row| row.wall_ticks),
        TextSort::Blocked => by(&CallsiteReport::own_blocked),
        TextSort::Calls => other.calls.cmp(&one.calls),
        TextSort::Mean => by(&|row| known(row.mean_ticks)),
        TextSort::P99 => by(&|row| known(row.p99_ticks)),
        TextSort::Max => by(&|row| known(row.max_ticks)),
        TextSort::Name => (&one.name, &one.module).cmp(&(&other.name, &other.module)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_order_is_that_of_its_figure() {
        type Set = fn(&mut CallsiteReport, f64);
        let orders: [(TextSort, Set); 8] = [
            (TextSort::SelfTicks, |row, ticks| {
                row.self_on_cpu_ticks = Some(ticks)
            }),
            (TextSort::Total, |row, ticks| row.total_ticks = ticks),
            (TextSort::Wall, |row, ticks| row.wall_ticks = ticks),
            (TextSort::Blocked, |row, ticks| {
                (row.self_ticks, row.self_on_cpu_ticks) = (ticks, Some(0.0));
            }),
            (TextSort::Calls, |row, calls| row.calls = calls as u64),
            (TextSort::Mean, |row, ticks| row.mean_ticks = Some(ticks)),
            (TextSort::P99, |row, ticks| row.p99_ticks = Some(ticks)),
            (TextSort::Max, |row, ticks| row.max_ticks = Some(ticks)),
        ];
        for (sort, set) in orders {
            let row = |figure: f64| {
                let name = figure.to_string();
                let mut row = CallsiteReport {
                    name,
                    ..CallsiteReport::default()
                };
                set(&mut row, figure);
                row
            };
            let report = Report {
                callsites: [1.0, 3.0, 2.0].map(row).to_vec(),
                ..Report::default()
            };
            let rows = Rows::new(&report, &TextOptions::default().sort(sort), &|_| true);
            let names: Vec<&str> = rows.shown.iter().map(|row| row.name.as_str()).collect();
            assert_eq!(names, ["3", "2", "1"], "{sort}");
        }
    }
}
