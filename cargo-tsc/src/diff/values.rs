//! The figures of each function in each run.

use std::collections::BTreeMap;

use tsc_report::{CallsiteReport, Report};

use super::shorter::mean_of_shorter_calls;
use crate::command_line::Metric;
use crate::rows::{all_self_ticks, path, self_ticks};
use crate::session::Session;
use crate::statistics::median;

/// One side's figures of a function.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// The metric in each run. 0 if the function was not called in it.
    pub runs: Vec<f64>,
    /// The same of the shorter calls alone. 0 if it is not known.
    pub shorter: Vec<f64>,
    /// Calls in the median run.
    pub calls: f64,
    /// Its share of the time on the CPU, in the median run.
    pub share: f64,
    /// For a single run: mean, standard error and systematic error of the metric.
    pub within: Option<(f64, f64, f64)>,
}

/// All functions of a session by `module::name`. If several have the same name, they are numbered in the order of their lines.
pub fn values(session: &Session, metric: Metric) -> BTreeMap<String, Values> {
    let mut all: BTreeMap<String, Values> = BTreeMap::new();
    let mut calls: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut shares: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let count = session.runs.len();
    for (index, run) in session.runs.iter().enumerate() {
        let whole = all_self_ticks(run).max(1.0);
        for (name, row) in named(run) {
            let entry = all.entry(name.clone()).or_insert_with(|| Values {
                runs: vec![0.0; count],
                shorter: vec![0.0; count],
                ..Values::default()
            });
            entry.runs[index] = value(row, metric).unwrap_or(0.0);
            entry.shorter[index] = value_of_shorter_calls(row, metric).unwrap_or(0.0);
            if count == 1 {
                entry.within = within(row, metric);
            }
            calls
                .entry(name.clone())
                .or_insert_with(|| vec![0.0; count])[index] = row.calls() as f64;
            shares.entry(name).or_insert_with(|| vec![0.0; count])[index] = self_ticks(row) / whole;
        }
    }
    for (name, values) in &mut all {
        values.calls = median(&calls[name]).unwrap_or(0.0);
        values.share = median(&shares[name]).unwrap_or(0.0);
    }
    all
}

fn named(run: &Report) -> Vec<(String, &CallsiteReport)> {
    let mut rows: Vec<&CallsiteReport> = run.callsites().iter().collect();
    rows.sort_by_key(|row| (row.file(), row.line()));
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    rows.into_iter()
        .map(|row| {
            let name = path(row);
            let number = seen.entry(name.clone()).or_insert(0);
            *number += 1;
            (
                if *number == 1 {
                    name
                } else {
                    format!("{name} ({number})")
                },
                row,
            )
        })
        .collect()
}

/// The metric of one row.
fn value(row: &CallsiteReport, metric: Metric) -> Option<f64> {
    match metric {
        Metric::SelfTime => Some(self_ticks(row)),
        Metric::SelfPerCall => (row.calls() > 0).then(|| self_ticks(row) / row.calls() as f64),
        Metric::Total => Some(row.total_ticks()),
        Metric::Mean => row.mean_ticks(),
        Metric::P50 => row.p50_ticks(),
        Metric::P99 => row.p99_ticks(),
    }
}

/// The metric of the shorter calls of one row: as if all calls were like them.
fn value_of_shorter_calls(row: &CallsiteReport, metric: Metric) -> Option<f64> {
    let mean = mean_of_shorter_calls(row)?;
    match metric {
        Metric::SelfTime | Metric::Total => Some(mean * row.calls() as f64),
        Metric::SelfPerCall | Metric::Mean => Some(mean),
        Metric::P50 | Metric::P99 => None,
    }
}

/// The error that one process knows: the relative error of a call's mean, applied to the metric.
fn within(row: &CallsiteReport, metric: Metric) -> Option<(f64, f64, f64)> {
    let value = value(row, metric)?;
    let mean = row.mean_ticks().filter(|&mean| mean > 0.0)?;
    let scale = match metric {
        Metric::SelfTime | Metric::Total => row.calls() as f64,
        Metric::SelfPerCall | Metric::Mean => 1.0,
        // Quantiles are accurate to 1/64. One process does not know their sampling error.
        Metric::P50 | Metric::P99 => return Some((value, value / 64.0, value / 64.0)),
    };
    debug_assert!(mean > 0.0);
    let systematic = row.systematic_error_ticks().unwrap_or(0.0)
        + row.outlier_excess_mean_ticks().unwrap_or(0.0).max(0.0);
    Some((value, row.std_error_ticks()? * scale, systematic * scale))
}
