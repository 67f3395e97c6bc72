//! The verdict on each function.

use std::collections::BTreeSet;

use serde::Serialize;

use super::Policy;
use super::drift::drift;
use super::values::{Values, values};
use crate::session::Session;
use crate::statistics::{self, RankSum, Ratio, SignTest, Tail, adjust};

/// The chance of any false alarm in a table.
const LEVEL: f64 = 0.05;
const CONFIDENCE: f64 = 0.95;

/// What can be said of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It takes more, by over the threshold.
    Slower,
    /// It takes less, by over the threshold.
    Faster,
    /// What it takes changed by no more than the threshold.
    NoChange,
    /// It may have changed or not.
    NotResolved,
    /// It was not called before.
    New,
    /// It is not called any more.
    Gone,
    /// It is too small a part of the program to be judged.
    TooSmall,
    /// The policy says not to.
    Ignored,
}

/// A function on both sides.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// `module::name`.
    pub name: String,
    /// What can be said.
    pub verdict: Verdict,
    /// The metric in the median run before, in ticks.
    pub before: Option<f64>,
    /// And after.
    pub after: Option<f64>,
    /// After over before.
    pub ratio: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// How likely so much beyond the threshold is by chance, all rows considered.
    pub p: Option<f64>,
    /// Changes up to this are none.
    pub threshold: f64,
    /// Runs a side that would do, if it is not resolved.
    pub runs_needed: Option<usize>,
    /// Calls in the median run before and after.
    pub calls: (f64, f64),
    /// Part of the time on the CPU before and after.
    pub share: (f64, f64),
}

/// All functions, and on what the verdicts rest.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The most changed first.
    pub rows: Vec<Row>,
    /// Runs before and after.
    pub runs: (usize, usize),
    /// Whether the sides took turns.
    pub interleaved: bool,
    /// Whether there is but one run a side, so that the verdicts are about these runs only.
    pub within_runs: bool,
    /// What was added to each threshold, because the machine itself may have changed so much.
    pub drift: f64,
    /// More runs a side than these are needed for any verdict.
    pub too_few_runs: Option<usize>,
}

/// A test that is not yet corrected for there being others.
struct Test {
    p: f64,
    shift: f64,
    bounds: Option<(f64, f64)>,
}

/// Compares two sessions.
pub fn compare(before: &Session, after: &Session, policy: &Policy) -> Comparison {
    let (old, new) = (
        values(before, policy.metric()),
        values(after, policy.metric()),
    );
    let runs = (before.runs.len(), after.runs.len());
    let interleaved = is_interleaved(before, after) && runs.0 == runs.1;
    let within_runs = runs == (1, 1);
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let nothing = Values::default();
    let mut rows: Vec<Row> = names
        .iter()
        .map(|name| {
            row(
                name,
                old.get(*name).unwrap_or(&nothing),
                new.get(*name).unwrap_or(&nothing),
                policy,
            )
        })
        .collect();
    let judged: Vec<usize> = (0..rows.len())
        .filter(|&index| rows[index].verdict == Verdict::NotResolved)
        .collect();
    let side = |index: usize| (&old[&rows[index].name], &new[&rows[index].name]);
    let shifts: Vec<f64> = judged
        .iter()
        .filter_map(|&index| rows[index].ratio)
        .map(f64::ln)
        .collect();
    let drift = if interleaved || within_runs {
        0.0
    } else {
        drift(before, after, &shifts)
    };
    let tests: Vec<Option<Test>> = judged
        .iter()
        .map(|&index| {
            let (old, new) = side(index);
            let threshold = rows[index].threshold.ln_1p() + drift;
            if within_runs {
                test_within(old, new, threshold)
            } else {
                test_runs(&old.runs, &new.runs, threshold, interleaved)
            }
        })
        .collect();
    let adjusted = adjust(
        &tests
            .iter()
            .map(|test| test.as_ref().map_or(1.0, |test| test.p))
            .collect::<Vec<_>>(),
    );
    let needed = statistics::runs_for_a_test(LEVEL, judged.len());
    for ((&index, test), p) in judged.iter().zip(tests).zip(adjusted) {
        if let Some(test) = test {
            judge(
                &mut rows[index],
                &test,
                p,
                runs.0.min(runs.1),
                drift,
                needed,
            );
        }
    }
    rows.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    Comparison {
        rows,
        runs,
        interleaved,
        within_runs,
        drift,
        too_few_runs: (runs.0.min(runs.1) < needed).then_some(needed),
    }
}

/// Changes before the rest, then by share of the time.
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

/// A row without its test: `NotResolved` is to be judged.
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
        p: None,
        threshold,
        runs_needed: None,
        calls: (old.calls, new.calls),
        share: (old.share, new.share),
    }
}

/// Tests whether the sides differ by more than `threshold`, which is a logarithm.
fn test_runs(old: &[f64], new: &[f64], threshold: f64, interleaved: bool) -> Option<Test> {
    let log = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<f64>>();
    let (old, new) = (log(old), log(new));
    let moved = |by: f64| new.iter().map(|value| value - by).collect::<Vec<f64>>();
    let up = RankSum::new(&old, &moved(threshold)).p_value(Tail::Greater);
    let down = RankSum::new(&old, &moved(-threshold)).p_value(Tail::Less);
    let shift = statistics::independent(&old, &new, CONFIDENCE)?;
    let by_ranks = Test {
        p: (2.0 * up.min(down)).min(1.0),
        shift: shift.estimate,
        bounds: shift.bounds,
    };
    if !interleaved {
        return Some(by_ranks);
    }
    let pairs = |by: f64| {
        old.iter()
            .zip(&new)
            .map(|(old, new)| new - old - by)
            .collect::<Vec<f64>>()
    };
    let up = SignTest::new(&pairs(threshold)).p_value(Tail::Greater);
    let down = SignTest::new(&pairs(-threshold)).p_value(Tail::Less);
    let shift = statistics::paired(&pairs(0.0), CONFIDENCE)?;
    let by_pairs = Test {
        p: (2.0 * up.min(down)).min(1.0),
        shift: shift.estimate,
        bounds: shift.bounds,
    };
    let mut better = if by_pairs.p < by_ranks.p {
        by_pairs
    } else {
        by_ranks
    };
    better.p = (2.0 * better.p).min(1.0); // the better of two tests was chosen
    Some(better)
}

/// Tests two single runs by what they know of their own errors.
fn test_within(old: &Values, new: &Values, threshold: f64) -> Option<Test> {
    let ratio = Ratio::new(old.within?, new.within?)?;
    Some(Test {
        p: ratio.p_value(threshold),
        shift: ratio.estimate.ln(),
        bounds: Some((ratio.bounds.0.ln(), ratio.bounds.1.ln())),
    })
}

fn judge(row: &mut Row, test: &Test, p: f64, runs: usize, drift: f64, least_runs: usize) {
    let threshold = row.threshold.ln_1p();
    row.ratio = Some(test.shift.exp());
    row.interval = test
        .bounds
        .map(|(low, high)| ((low - drift).exp(), (high + drift).exp()));
    row.p = Some(p);
    let width = test
        .bounds
        .map_or(f64::INFINITY, |(low, high)| (high - low) / 2.0);
    let inside = test
        .bounds
        .is_some_and(|(low, high)| low - drift >= -threshold && high + drift <= threshold);
    row.verdict = match () {
        () if p < LEVEL && test.shift >= threshold => Verdict::Slower,
        () if p < LEVEL && test.shift <= -threshold => Verdict::Faster,
        () if inside => Verdict::NoChange,
        () => Verdict::NotResolved,
    };
    if row.verdict == Verdict::NotResolved {
        let distance = (test.shift.abs() - threshold).abs();
        let by_width = if width.is_finite() {
            statistics::runs_for_precision(runs, width, distance)
        } else {
            Some(least_runs)
        };
        row.runs_needed = by_width.map(|needed| needed.max(least_runs));
    }
}
