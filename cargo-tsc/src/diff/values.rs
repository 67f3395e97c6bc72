//! The figures of each function in each run.

use std::collections::BTreeMap;

use tsc_report::{CallsiteReport, Context, Report};

use crate::command_line::Metric;
use crate::export::stacks;
use crate::rows::{all_self_ticks, path, self_ticks};
use crate::session::Session;
use crate::statistics::median;

/// The share of the calls that are the shorter ones. Interrupts and other programs mostly make the longest calls longer still, so the mean of
/// the others differs less from run to run.
pub const SHORTER: f64 = 0.9;
/// The fewest calls of which some are left out.
const LEAST_CALLS: u64 = 200;

/// One side's figures of a function.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// The metric in each run. 0 if the function was not called in it.
    pub runs: Vec<f64>,
    /// The same as if all calls were like the shorter ones. 0 if it is not known.
    pub shorter: Vec<f64>,
    /// The ticks outside annotated callees in each run.
    pub own: Vec<f64>,
    /// Calls in the median run.
    pub calls: f64,
    /// Its share of the time on the CPU, in the median run.
    pub share: f64,
}

impl Values {
    /// The figures of the whole program, of which these are the ticks in each run.
    pub fn of_whole(ticks: Vec<f64>) -> Self {
        Self {
            runs: ticks.clone(),
            own: ticks,
            calls: 1.0,
            share: 1.0,
            ..Self::default()
        }
    }
}

/// All functions of a session by `module::name`. If several have the same name, they are numbered in the order of their lines. If the metric
/// is the number of calls, also all paths of the call tree.
pub fn values(session: &Session, metric: Metric) -> BTreeMap<String, Values> {
    let mut all: BTreeMap<String, Values> = BTreeMap::new();
    let mut calls: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let count = session.runs.len();
    let empty = || Values {
        runs: vec![0.0; count],
        shorter: vec![0.0; count],
        own: vec![0.0; count],
        ..Values::default()
    };
    for (index, run) in session.runs.iter().enumerate() {
        for (name, row) in named(run) {
            let entry = all.entry(name.clone()).or_insert_with(empty);
            entry.runs[index] = value(row, metric).unwrap_or(0.0);
            entry.shorter[index] = shorter(row, metric).unwrap_or(0.0);
            entry.own[index] = self_ticks(row);
            calls.entry(name).or_insert_with(|| vec![0.0; count])[index] = row.calls() as f64;
        }
        let contexts = run.contexts().iter().filter(|_| metric == Metric::Calls);
        for context in contexts.filter(|context| context.parent().is_some()) {
            let entry = all.entry(way(run, context)).or_insert_with(empty);
            entry.runs[index] += context.calls().unwrap_or(0) as f64;
        }
    }
    let whole: Vec<f64> = session.runs.iter().map(all_self_ticks).collect();
    for (name, values) in &mut all {
        let shares = values.own.iter().zip(&whole);
        let shares: Vec<f64> = shares.map(|(own, whole)| own / whole.max(1.0)).collect();
        let calls = calls.get(name).unwrap_or(&values.runs);
        values.calls = median(calls).unwrap_or(0.0);
        values.share = median(&shares).unwrap_or(0.0);
    }
    all
}

fn named(run: &Report) -> Vec<(String, &CallsiteReport)> {
    let mut rows: Vec<&CallsiteReport> = run.callsites().iter().collect();
    rows.sort_by_key(|row| (row.file(), row.line()));
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut name = |row| {
        let name = path(row);
        let number = seen.entry(name.clone()).or_insert(0);
        *number += 1;
        match *number {
            1 => name,
            number => format!("{name} ({number})"),
        }
    };
    rows.into_iter().map(|row| (name(row), row)).collect()
}

/// The path of a context from the outermost function to its own.
fn way(run: &Report, context: &Context) -> String {
    let names = stacks::stack(run, context).map(|context| stacks::name(run, context));
    let mut names: Vec<String> = names.collect();
    names.reverse();
    names.join(" > ")
}

/// The metric of one row.
fn value(row: &CallsiteReport, metric: Metric) -> Option<f64> {
    let units = |unit| row.units().filter(|_| row.unit() == Some(unit));
    match metric {
        Metric::SelfTime => Some(self_ticks(row)),
        Metric::SelfPerCall => (row.calls() > 0).then(|| self_ticks(row) / row.calls() as f64),
        Metric::Total => Some(row.total_ticks()),
        Metric::Mean => row.mean_ticks(),
        Metric::P50 => row.p50_ticks(),
        Metric::P99 => row.p99_ticks(),
        Metric::Calls => Some(row.calls() as f64),
        Metric::Items => units("items").map(|units| units as f64),
        Metric::Bytes => units("bytes").map(|units| units as f64),
    }
}

/// The metric as if all calls were like the shorter ones. `None` if there are few calls, if most were excluded, if some of the time is that of annotated
/// callees, whose long calls would be left out instead, or if the metric is not about all calls.
fn shorter(row: &CallsiteReport, metric: Metric) -> Option<f64> {
    let samples = row.samples();
    let is_of_all_calls = row.excluded().unwrap_or(0) * 2 < row.calls();
    let is_alone = row.self_ticks() >= row.total_ticks();
    let is_quantile = matches!(metric, Metric::P50 | Metric::P99);
    if samples < LEAST_CALLS || !is_of_all_calls || !is_alone || is_quantile {
        return None;
    }
    let visible = row.visible_overhead_ticks() / row.calls() as f64;
    let longest_first = row.histogram().iter().rev().map(|bucket| {
        let middle = f64::midpoint(bucket.from_ticks() as f64, bucket.end_ticks() as f64);
        (bucket.calls() as f64, middle - visible)
    });
    let mean = without_longest(row.mean_ticks()?, samples as f64, longest_first);
    let is_per_call = matches!(metric, Metric::SelfPerCall | Metric::Mean);
    let calls = if is_per_call { 1.0 } else { row.calls() as f64 };
    (mean > 0.0).then_some(mean * calls)
}

/// Takes the longest calls off the mean of all. Their ticks are those of their buckets, the longest first, each with its calls and its
/// middle. The others' ticks are exact, so a function all of whose calls are of one length does not jump from one bucket to the next.
fn without_longest(mean: f64, calls: f64, buckets: impl Iterator<Item = (f64, f64)>) -> f64 {
    let longest = calls * (1.0 - SHORTER);
    let (mut left_out, mut ticks) = (0.0, 0.0);
    for (calls, middle) in buckets {
        let some = calls.min(longest - left_out);
        left_out += some;
        ticks += some * middle;
    }
    (mean * calls - ticks) / (calls - left_out)
}

#[cfg(test)]
mod tests {
    use super::without_longest;

    fn mean_of(buckets: &[(f64, f64)]) -> f64 {
        let calls: f64 = buckets.iter().map(|(calls, _)| calls).sum();
        let ticks: f64 = buckets.iter().map(|(calls, middle)| calls * middle).sum();
        without_longest(ticks / calls, calls, buckets.iter().copied())
    }

    #[test]
    fn longest_tenth_is_left_out() {
        let half_remain = (100.0 * 9000.0 + 800.0 * 70.0) / 900.0;
        for (long, expected) in [(100.0, 70.0), (50.0, 70.0), (200.0, half_remain)] {
            let mean = mean_of(&[(long, 9000.0), (1000.0 - long, 70.0)]);
            assert!((mean - expected).abs() < 1e-9, "{long}: {mean}");
        }
    }

    #[test]
    fn bucket_of_one_tenth_hardly_matters() {
        // All calls take 70.9 ticks, in a bucket whose middle is 71.5.
        let mean = without_longest(70.9, 1000.0, [(1000.0, 71.5)].into_iter());
        assert!((70.8..70.9).contains(&mean), "{mean}");
    }
}
