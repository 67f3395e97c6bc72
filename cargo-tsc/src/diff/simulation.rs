//! Tests the verdicts on simulated runs, for which the true change is known. All seeds are fixed.

use std::collections::BTreeMap;

use super::Policy;
use super::judge::{Comparison, Sides, Verdict};
use super::values::Values;

/// The number of functions in each simulated program.
const FUNCTIONS: usize = 12;
const RUNS: usize = 10;
/// The function that is made slower.
const CHANGED: usize = 4;

/// xorshift64*, whose quality is enough for this.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Approximately normal, with standard deviation 1: the sum of twelve uniform numbers has variance 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// How simulated runs differ.
#[derive(Clone, Copy)]
struct Noise {
    /// The standard deviation of each function between runs.
    spread: f64,
    /// This share of all figures is too great by up to a half, as if another process had disturbed the run.
    disturbed: f64,
    /// The standard deviation of the change that all functions in a pair of runs have in common.
    drift: f64,
    /// The standard deviation of the shorter calls of each function between runs. `None` if all of a function's calls are one.
    shorter: Option<f64>,
}

const QUIET: Noise = Noise {
    spread: 0.007,
    disturbed: 0.0,
    drift: 0.0,
    shorter: None,
};
const LOADED: Noise = Noise {
    spread: 0.02,
    disturbed: 0.15,
    drift: 0.0,
    shorter: None,
};
const DRIFTING: Noise = Noise {
    spread: 0.004,
    disturbed: 0.0,
    drift: 0.05,
    shorter: None,
};
const LONG_CALLS_LOADED: Noise = Noise {
    spread: 0.025,
    disturbed: 0.15,
    drift: 0.0,
    shorter: Some(0.006),
};

/// Simulates a comparison in which the changed function takes `change` times as long after the change.
fn compared(random: &mut Random, noise: Noise, change: f64, interleaved: bool) -> Comparison {
    let mut sides: [BTreeMap<String, Values>; 2] = [BTreeMap::new(), BTreeMap::new()];
    for _ in 0..RUNS {
        let drift = random.normal() * noise.drift;
        for (side, values) in sides.iter_mut().enumerate() {
            for function in 0..FUNCTIONS {
                let truth = 1e6
                    * (function + 1) as f64
                    * if side == 1 && function == CHANGED {
                        change
                    } else {
                        1.0
                    };
                let mut value = truth * (drift + random.normal() * noise.spread).exp();
                if random.uniform() < noise.disturbed {
                    value *= 1.0 + random.uniform() / 2.0;
                }
                let entry = values
                    .entry(format!("app::f{function}"))
                    .or_insert_with(|| Values {
                        calls: 1.0,
                        share: 1.0,
                        ..Values::default()
                    });
                entry.runs.push(value);
                if let Some(spread) = noise.shorter {
                    let share = 0.6 * (drift + random.normal() * spread).exp();
                    entry.shorter.push(truth * share);
                }
            }
        }
    }
    let [old, new] = sides;
    Sides {
        old,
        new,
        runs: (RUNS, RUNS),
        interleaved,
        core_clock: 0.0,
    }
    .compare(&Policy::default())
}

/// The functions that the comparison reports as changed.
fn changed(comparison: &Comparison) -> Vec<&str> {
    let is_change = |verdict| matches!(verdict, Verdict::Slower | Verdict::Faster);
    comparison
        .rows
        .iter()
        .filter(|row| is_change(row.verdict))
        .map(|row| row.name.as_str())
        .collect()
}

#[test]
fn nothing_changed_and_at_most_one_comparison_in_twenty_says_so() {
    for (noise, interleaved) in [
        (QUIET, false),
        (QUIET, true),
        (LOADED, false),
        (LOADED, true),
        (DRIFTING, true),
        (LONG_CALLS_LOADED, false),
        (LONG_CALLS_LOADED, true),
    ] {
        let mut random = Random(0x5eed);
        let wrong = (0..200)
            .filter(|_| !changed(&compared(&mut random, noise, 1.0, interleaved)).is_empty())
            .count();
        assert!(wrong <= 10, "{wrong} of 200");
    }
}

#[test]
fn three_per_cent_in_one_function_are_found_and_nothing_else_is() {
    for (noise, interleaved) in [
        (QUIET, false),
        (QUIET, true),
        (DRIFTING, true),
        (LONG_CALLS_LOADED, false),
        (LONG_CALLS_LOADED, true),
    ] {
        let mut random = Random(0xfeed);
        let right = (0..100)
            .filter(|_| changed(&compared(&mut random, noise, 1.03, interleaved)) == ["app::f4"])
            .count();
        assert!(right >= 90, "{right} of 100; spread {}", noise.spread);
    }
}

#[test]
fn what_noise_hides_is_not_resolved_and_the_runs_that_would_do_are_said() {
    let mut random = Random(0xbeef);
    let comparison = compared(
        &mut random,
        Noise {
            spread: 0.1,
            disturbed: 0.0,
            drift: 0.0,
            shorter: None,
        },
        1.03,
        false,
    );
    let row = comparison
        .rows
        .iter()
        .find(|row| row.name == "app::f4")
        .unwrap();
    assert_eq!(row.verdict, Verdict::NotResolved);
    assert!(row.runs_needed.is_none_or(|runs| runs > RUNS), "{row:?}");
    assert!(comparison.rows.iter().any(|row| row.runs_needed.is_some()));
}

#[test]
fn shorter_calls_decide_only_what_all_calls_leave_open() {
    let mut random = Random(0xabcd);
    let mut compare = |all: f64, shorter: f64| {
        let mut side = |all: f64, shorter: f64| {
            let mut runs = |mean: f64, spread: f64| -> Vec<f64> {
                (0..RUNS)
                    .map(|_| mean * (random.normal() * spread).exp())
                    .collect()
            };
            let values = Values {
                runs: runs(all, 0.004),
                shorter: runs(shorter, 0.004),
                calls: 1.0,
                share: 1.0,
                ..Values::default()
            };
            BTreeMap::from([("app::f".to_owned(), values)])
        };
        let sides = Sides {
            old: side(1e6, 1e6),
            new: side(all * 1e6, shorter * 1e6),
            runs: (RUNS, RUNS),
            interleaved: false,
            core_clock: 0.0,
        };
        let row = sides.compare(&Policy::default()).rows.remove(0);
        (row.verdict, row.share_of_calls)
    };
    assert_eq!(compare(0.9, 1.05), (Verdict::Faster, None));
    assert_eq!(compare(1.1, 1.1), (Verdict::Slower, None));
    assert_eq!(compare(1.0, 1.05), (Verdict::NoChange, None));
    assert_eq!(compare(1.012, 1.05), (Verdict::Slower, Some(0.9)));
}

#[test]
fn a_machine_that_changed_between_the_sides_is_not_blamed_on_the_code() {
    let mut random = Random(0xcafe);
    let mut side = |machine: f64| -> BTreeMap<String, Values> {
        (0..FUNCTIONS)
            .map(|function| {
                let runs = (0..RUNS)
                    .map(|_| 1e6 * machine * (random.normal() * QUIET.spread).exp())
                    .collect();
                (
                    format!("app::f{function}"),
                    Values {
                        runs,
                        calls: 1.0,
                        share: 1.0,
                        ..Values::default()
                    },
                )
            })
            .collect()
    };
    let (old, new) = (side(1.0), side(1.05));
    let comparison = Sides {
        old,
        new,
        runs: (RUNS, RUNS),
        interleaved: false,
        core_clock: 0.0,
    }
    .compare(&Policy::default());
    assert_eq!(changed(&comparison), [""; 0]);
    assert!((0.04..0.06).contains(&comparison.drift));
}
