//! The verdict on each function.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::row_test::Tests;
use super::values::{Values, values};
use super::{Policy, drift};
use crate::session::Session;
use crate::statistics::{self, adjust};

/// The probability that a table contains any false alarm.
const LEVEL: f64 = 0.05;

/// The verdict on a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It takes longer, by more than the threshold.
    Slower,
    /// It takes less time, by more than the threshold.
    Faster,
    /// Its time changed by at most the threshold.
    NoChange,
    /// It is not known whether its time changed.
    NotResolved,
    /// It was not called before.
    New,
    /// It is not called any more.
    Gone,
    /// It is too small a part of the program to be judged.
    TooSmall,
    /// The policy excludes it.
    Ignored,
}

/// A function with its figures on both sides.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// `module::name`.
    pub name: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The metric in the median run before, in ticks.
    pub before: Option<f64>,
    /// The metric in the median run after, in ticks.
    pub after: Option<f64>,
    /// The figure after divided by the figure before.
    pub ratio: Option<f64>,
    /// The 95 % confidence interval of the ratio.
    pub interval: Option<(f64, f64)>,
    /// The share of the calls that ratio and interval are about, if the change is only known of the shorter ones.
    pub share_of_calls: Option<f64>,
    /// The probability of such a difference beyond the threshold by chance, corrected for the number of rows.
    pub p: Option<f64>,
    /// Changes up to this do not count.
    pub threshold: f64,
    /// The runs per side that would be enough, if the verdict is `NotResolved`.
    pub runs_needed: Option<usize>,
    /// Calls in the median run before and after.
    pub calls: (f64, f64),
    /// The share of the time on the CPU, before and after.
    pub share: (f64, f64),
}

/// The verdicts on all functions, and what they are based on.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The rows, changed functions first.
    pub rows: Vec<Row>,
    /// Runs before and after.
    pub runs: (usize, usize),
    /// Whether the two sides were measured in turns.
    pub interleaved: bool,
    /// Whether there is only one run per side, so that the verdicts are only about these two runs.
    pub within_runs: bool,
    /// What was added to each threshold, because the machine itself may have changed by this much.
    pub drift: f64,
    /// If there are too few runs for any verdict: how many runs per side are needed.
    pub too_few_runs: Option<usize>,
}

/// The figures of both sides.
pub struct Sides {
    /// The figures before, by function.
    pub old: BTreeMap<String, Values>,
    /// The figures after, by function.
    pub new: BTreeMap<String, Values>,
    /// Runs before and after.
    pub runs: (usize, usize),
    /// Whether the two sides were measured in turns.
    pub interleaved: bool,
    /// The change of the core clock, as a logarithm.
    pub core_clock: f64,
}

/// Compares two sessions.
pub fn compare(before: &Session, after: &Session, policy: &Policy) -> Comparison {
    let runs = (before.runs.len(), after.runs.len());
    let sides = Sides {
        old: values(before, policy.metric()),
        new: values(after, policy.metric()),
        runs,
        interleaved: is_interleaved(before, after) && runs.0 == runs.1,
        core_clock: drift::core_clock(before, after),
    };
    sides.compare(policy)
}

impl Sides {
    /// Judges each function.
    pub fn compare(&self, policy: &Policy) -> Comparison {
        let mut rows = self.rows(policy);
        let judged: Vec<usize> = (0..rows.len())
            .filter(|&index| rows[index].verdict == Verdict::NotResolved)
            .collect();
        let within_runs = self.runs == (1, 1);
        let drift = if self.interleaved || within_runs {
            0.0
        } else {
            let ratios = judged.iter().filter_map(|&index| rows[index].ratio);
            drift::common(&ratios.map(f64::ln).collect::<Vec<f64>>()).max(self.core_clock)
        };
        let tests: Vec<Option<Tests>> = judged
            .iter()
            .map(|&index| self.test(&rows[index], drift))
            .collect();
        let p_values: Vec<f64> = tests
            .iter()
            .map(|tests| tests.as_ref().map_or(1.0, Tests::p))
            .collect();
        let least = self.runs.0.min(self.runs.1);
        let most = tests.iter().flatten().map(|tests| tests.count).max();
        let needed = statistics::runs_for_a_test(LEVEL, judged.len() * most.unwrap_or(1));
        for ((&index, tests), p) in judged.iter().zip(tests).zip(adjust(&p_values)) {
            if let Some(tests) = tests {
                judge(&mut rows[index], &tests, p, least, drift, needed);
            }
        }
        rows.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        Comparison {
            rows,
            runs: self.runs,
            interleaved: self.interleaved,
            within_runs,
            drift,
            too_few_runs: (least < needed).then_some(needed),
        }
    }

    fn rows(&self, policy: &Policy) -> Vec<Row> {
        let names: BTreeSet<&String> = self.old.keys().chain(self.new.keys()).collect();
        let nothing = Values::default();
        let side = |values: &BTreeMap<String, Values>, name: &str| {
            values.get(name).unwrap_or(&nothing).clone()
        };
        names
            .iter()
            .map(|name| row(name, &side(&self.old, name), &side(&self.new, name), policy))
            .collect()
    }

    fn test(&self, row: &Row, drift: f64) -> Option<Tests> {
        let (old, new) = (&self.old[&row.name], &self.new[&row.name]);
        let threshold = row.threshold.ln_1p() + drift;
        if self.runs == (1, 1) {
            Tests::within_runs(old, new, threshold)
        } else {
            Tests::of_runs(old, new, threshold, self.interleaved)
        }
    }
}

/// The order of the rows: changed functions first, then by share of the time.
fn weight(row: &Row) -> f64 {
    let first = match row.verdict {
        Verdict::Slower | Verdict::Faster => 2.0,
        Verdict::TooSmall | Verdict::Ignored => -2.0,
        _ => 0.0,
    };
    first + row.share.0.max(row.share.1)
}

fn is_interleaved(before: &Session, after: &Session) -> bool {
    let partner = |session: &Session| {
        session
            .about
            .as_ref()
            .and_then(|about| about.interleaved_with.clone())
    };
    let name = |session: &Session| {
        session
            .path
            .file_name()
            .map(|name| name.display().to_string())
    };
    partner(before).is_some() && partner(before) == name(after)
}

/// A row without its test. If its verdict is `NotResolved`, it is tested afterwards.
fn row(name: &str, old: &Values, new: &Values, policy: &Policy) -> Row {
    let median = |values: &Values| statistics::median(&values.runs);
    let (before, after) = (median(old), median(new));
    let threshold = policy.threshold(name);
    let usable = |values: &Values| values.runs.iter().all(|&value| value > 0.0);
    let verdict = match (before, after) {
        _ if policy.ignores(name) => Verdict::Ignored,
        _ if old.share.max(new.share) < policy.min_share() => Verdict::TooSmall,
        (None, _) => Verdict::New,
        (_, None) => Verdict::Gone,
        _ if !usable(old) || !usable(new) => Verdict::TooSmall,
        _ => Verdict::NotResolved,
    };
    let ratio = before
        .zip(after)
        .filter(|&(before, after)| before > 0.0 && after > 0.0)
        .map(|(before, after)| after / before);
    Row {
        name: name.to_owned(),
        verdict,
        before,
        after,
        ratio,
        interval: None,
        share_of_calls: None,
        p: None,
        threshold,
        runs_needed: None,
        calls: (old.calls, new.calls),
        share: (old.share, new.share),
    }
}

fn judge(row: &mut Row, tests: &Tests, p: f64, runs: usize, drift: f64, least_runs: usize) {
    let threshold = row.threshold.ln_1p();
    let (better, share_of_calls) = tests.better();
    let verdict = match () {
        () if p < LEVEL && better.shift >= threshold => Verdict::Slower,
        () if p < LEVEL && better.shift <= -threshold => Verdict::Faster,
        () if tests.all.is_inside(threshold - drift) => Verdict::NoChange,
        () => Verdict::NotResolved,
    };
    let is_change = matches!(verdict, Verdict::Slower | Verdict::Faster);
    let shown = if is_change { better } else { &tests.all };
    row.verdict = verdict;
    row.ratio = Some(shown.shift.exp());
    row.interval = shown
        .bounds
        .map(|(low, high)| ((low - drift).exp(), (high + drift).exp()));
    row.share_of_calls = share_of_calls.filter(|_| is_change);
    row.p = Some(p);
    if verdict == Verdict::NotResolved {
        let distance = (shown.shift.abs() - threshold).abs();
        let needed = shown.bounds.map_or(Some(least_runs), |(low, high)| {
            statistics::runs_for_precision(runs, (high - low) / 2.0, distance)
        });
        row.runs_needed = needed.map(|needed| needed.max(least_runs));
    }
}
