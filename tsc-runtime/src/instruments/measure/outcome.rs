//! What a run is asked for, and what it finds.

use std::time::Duration;

use super::verdict::Verdict;
use crate::calibration::reference_chain;
use crate::instruments::bench::data::data;
use crate::instruments::bench::distribution::{Distribution, means_of_parts};

/// A run goes on until the standard error of the core cycles is at most this share of them, or this many. But for that it goes on only
/// until an eighth of the time limit, because the work itself may vary by more.
const CYCLES_PRECISION: f64 = 0.0006;
const CYCLES_KNOWN: f64 = 0.04;

/// The options of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) precision: f64,
    pub(super) time_limit: Duration,
    pub(super) batch: Option<usize>,
    pub(super) isolated: bool,
    /// The step of the counter.
    pub(super) step: u64,
    /// Whether the baseline is an empty call between fences, which takes a cycle that work does not take: see `fence_hiding`.
    pub(super) baseline_is_empty: bool,
}

/// The result of the rounds.
pub(super) struct Outcome {
    pub(super) verdict: Verdict,
    pub(super) batch: usize,
    /// Net ticks per call, in the order of the run.
    pub(super) ticks: Vec<f64>,
    /// Net core cycles per call, with their standard error.
    pub(super) core_cycles: Option<(f64, f64)>,
    pub(super) clock: Option<CoreRatio>,
    /// The ticks of a whole sample of the baseline.
    pub(super) baseline: f64,
    /// The standard error that subtracting the baseline adds to the ticks of a call.
    pub(super) baseline_error: f64,
    pub(super) interrupted: usize,
    /// Whether interruptions could be detected at all.
    pub(super) detected: bool,
    /// The ticks of each of the first calls, net of the reads.
    pub(super) first: Vec<f64>,
}

impl Outcome {
    /// Whether the core cycles are known as well as they should be. Where they cannot be known, nothing is missing.
    pub(super) fn knows_core_cycles(&self) -> bool {
        let is_known =
            |(mean, error): (f64, f64)| error <= (CYCLES_PRECISION * mean).max(CYCLES_KNOWN);
        self.core_cycles
            .map_or(!reference_chain::AVAILABLE, is_known)
    }
}

data! {
    /// The ratio of the core clock to the counter's rate, in core cycles per tick.
    #[derive(Copy)]
    pub struct CoreRatio {
        /// The mean ratio of the run.
        cycles_per_tick: f64,
        /// The smallest ratio of an eighth of the run.
        least: f64,
        /// The greatest ratio of an eighth of the run.
        greatest: f64,
    }
}

impl CoreRatio {
    /// Combines the core cycles per tick of single rounds. One alone is as inexact as the counter's step makes it.
    pub(super) fn of_rounds(clocks: &[f64]) -> Self {
        let parts = Distribution::new(&means_of_parts(clocks, 0.0));
        Self {
            cycles_per_tick: Distribution::new(clocks).centre(0.0).mean,
            least: parts.quantile(0.0),
            greatest: parts.quantile(1.0),
        }
    }
}
