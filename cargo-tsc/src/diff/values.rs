//! The figures of each function in each run.

use std::collections::BTreeMap;

use tsc_report::{CallsiteReport, Report};

use super::names::Names;
use crate::command_line::Metric;
use crate::session::Session;
use crate::stacks;
use crate::statistics::median;

/// The shares of the calls that are the shortest: the first one, or the second one where the first is too coarse.
pub const SHARES: [f64; 2] = [0.25, 0.5];
/// If so great a part of the shortest calls took the same number of steps of the counter, each may become longer without a change of their sum.
const COARSE: f64 = 0.9;

/// One side's figures of a function.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// The metric in each run. 0 if the function was not called in it.
    pub runs: Vec<f64>,
    /// Whether the metric is of single calls, which were not timed in some run.
    pub is_untimed: bool,
    /// The ticks outside annotated callees in each run.
    pub own: Vec<f64>,
    /// If the metric is the function's own time: the ticks of its shortest calls in each run, of each share. What disturbs a call makes it
    /// longer, so this differs less from run to run. 0 if it is not known.
    pub shortest: [Vec<f64>; 2],
    /// Whether the first share of the shortest calls is too coarse, in the first run.
    pub is_coarse: bool,
    /// The calls in each run.
    pub called: Vec<f64>,
    /// Calls in the median run.
    pub calls: f64,
    /// Its share of the time on the CPU, in the median run.
    pub share: f64,
}

/// All functions of a session by their names. If the metric is the number of calls, also all paths of the call tree.
pub fn values(session: &Session, metric: Metric) -> BTreeMap<String, Values> {
    values_of(session, metric, &Names::of(session))
}

/// The same of two sessions that are compared.
pub fn values_of_both(sessions: [&Session; 2], metric: Metric) -> [BTreeMap<String, Values>; 2] {
    let [old, new] = &Names::of_both(sessions);
    let [before, after] = sessions;
    [
        values_of(before, metric, old),
        values_of(after, metric, new),
    ]
}

fn values_of<'a>(
    session: &'a Session,
    metric: Metric,
    names: &Names<'a>,
) -> BTreeMap<String, Values> {
    let mut all: BTreeMap<String, Values> = BTreeMap::new();
    let count = session.runs.len();
    let empty = || Values {
        runs: vec![0.0; count],
        own: vec![0.0; count],
        called: vec![0.0; count],
        shortest: [vec![0.0; count], vec![0.0; count]],
        ..Values::default()
    };
    for (index, run) in session.runs.iter().enumerate() {
        // A count of what is not counted is not 0, but unknown.
        let is_known = |row: &&CallsiteReport| !metric.is_count() || value(row, metric).is_some();
        for row in run.callsites().iter().filter(|row| is_known(row)) {
            let entry = all.entry(names.name(row)).or_insert_with(empty);
            let figure = value(row, metric);
            entry.is_untimed |= figure.is_none() && row.calls() > 0;
            entry.runs[index] = figure.unwrap_or(0.0);
            entry.own[index] = row.self_on_cpu();
            entry.called[index] = row.calls() as f64;
            if metric == Metric::SelfTime {
                let shortest = SHARES.map(|share| shortest(row, share));
                for (runs, (ticks, _)) in entry.shortest.iter_mut().zip(shortest) {
                    runs[index] = ticks;
                }
                entry.is_coarse |= index == 0 && shortest[0].1 > COARSE;
            }
        }
        let contexts = run.contexts().iter().filter(|_| metric == Metric::Calls);
        for context in contexts.filter(|context| context.parent().is_some()) {
            if let Some(calls) = context.calls() {
                let path = stacks::names(run, context).join(" > ");
                let entry = all.entry(path).or_insert_with(empty);
                entry.runs[index] += calls as f64;
                entry.called[index] = entry.runs[index];
            }
        }
    }
    let whole: Vec<f64> = session.runs.iter().map(Report::self_sum).collect();
    for values in all.values_mut() {
        let shares = values.own.iter().zip(&whole);
        let shares: Vec<f64> = shares.map(|(own, whole)| own / whole.max(1.0)).collect();
        values.calls = median(&values.called).unwrap_or(0.0);
        values.share = median(&shares).unwrap_or(0.0);
    }
    all
}

/// The metric of one row.
fn value(row: &CallsiteReport, metric: Metric) -> Option<f64> {
    let units = |unit| row.units().filter(|_| row.unit() == Some(unit));
    match metric {
        Metric::SelfTime => Some(row.self_on_cpu()),
        Metric::SelfPerCall => (row.calls() > 0).then(|| row.self_on_cpu() / row.calls() as f64),
        Metric::Total => Some(row.total_ticks()),
        Metric::Mean => row.mean_ticks(),
        Metric::P50 => row.p50_ticks(),
        Metric::P99 => row.p99_ticks(),
        Metric::Calls => Some(row.calls() as f64),
        Metric::Items => units("items").map(|units| units as f64),
        Metric::Bytes => units("bytes").map(|units| units as f64),
    }
}

/// The time of this share of the calls, of the shortest, with the ticks of their own probe, whose calibration differs from run to run; and the
/// greatest part of them that is in one bucket. 0 if the calls contain those of annotated callees.
fn shortest(row: &CallsiteReport, share: f64) -> (f64, f64) {
    let buckets = row.histogram().iter();
    let all = buckets.clone().map(|bucket| bucket.calls() as f64);
    let wanted = all.sum::<f64>() * share;
    let (mut calls, mut ticks, mut most) = (0.0, 0.0, 0.0_f64);
    for bucket in buckets.filter(|_| row.nested_overhead_ticks() == 0.0) {
        let some = (bucket.calls() as f64).min(wanted - calls);
        calls += some;
        most = most.max(some / wanted);
        ticks += some * (bucket.from_ticks() + bucket.end_ticks()) as f64 / 2.0;
    }
    (ticks, most)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_may_say_any_number_of_calls() {
        let bucket = |from: u64| json!({ "from_ticks": from, "calls": u64::MAX });
        let row = json!({ "sums": { "samples": u64::MAX }, "histogram": [bucket(1), bucket(2)] });
        let mut report = serde_json::to_value(Report::default()).unwrap();
        report["callsites"] = vec![row].into();
        let report = Report::from_json(&report.to_string()).unwrap();
        let (_, most) = shortest(&report.callsites()[0], SHARES[0]);
        assert_eq!(most, 1.0);
    }
}
