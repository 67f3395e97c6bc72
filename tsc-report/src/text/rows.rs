//! The rows of the dump in their order.

use std::cmp::Ordering;

use super::{TextOptions, TextSort};
use crate::data::share;
use crate::order::order;
use crate::{CallsiteReport, Report};

/// The rows in order, and how many of them are shown.
pub(super) struct Rows<'a> {
    all: Vec<&'a CallsiteReport>,
    shown: usize,
    self_sum: f64,
}

impl<'a> Rows<'a> {
    /// Those for which `is_wanted`. Shares are of all rows.
    pub(super) fn new(
        report: &'a Report,
        options: &TextOptions,
        is_wanted: &dyn Fn(&CallsiteReport) -> bool,
    ) -> Self {
        let rows = &report.callsites;
        let order = order(rows.len(), &|one, other| {
            compare(options.sort, &rows[one], &rows[other])
        });
        let ordered = order.iter().map(|&index| &rows[index]);
        let all: Vec<&CallsiteReport> = ordered.filter(|row| is_wanted(row)).collect();
        Self {
            shown: options.top.min(all.len()),
            self_sum: rows.iter().map(own).sum(),
            all,
        }
    }

    pub(super) fn shown(&self) -> impl Iterator<Item = &'a CallsiteReport> {
        self.all[..self.shown].iter().copied()
    }

    /// The self ticks of all rows.
    pub(super) fn self_sum(&self) -> f64 {
        self.self_sum
    }

    pub(super) fn left_out(&self) -> usize {
        self.all.len() - self.shown
    }

    /// The row's share of the sum of all self ticks, in percent.
    pub(super) fn self_share(&self, row: &CallsiteReport) -> f64 {
        share(own(row), self.self_sum) * 100.0
    }
}

/// The self ticks. The average cost of probes is subtracted from them, which may have been more than was in these calls.
fn own(row: &CallsiteReport) -> f64 {
    row.self_on_cpu().max(0.0)
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
