//! The result of a measurement, as data.

use std::time::Duration;

use super::settling::{Step, settling};
use super::verdict::Verdict;
use crate::instruments::bench::distribution::{Distribution, centre_of_run, means_of_parts};
use tsc_report::__private::data;

/// What a run is asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub(super) name: String,
    pub(super) bytes: Option<u64>,
    pub(super) cpu: Option<usize>,
    pub(super) precision: f64,
    pub(super) time_limit: Duration,
    pub(super) batch: Option<usize>,
    pub(super) isolated: bool,
    /// The step of the counter.
    pub(super) step: u64,
    /// About how many ticks a core cycle takes, and at most one.
    pub(super) unit: f64,
    /// Whether the baseline is an empty call between fences, which takes a cycle that work does not take: see `fence_hiding`.
    pub(super) baseline_is_empty: bool,
}

data! {
    /// What one call of a piece of work costs, and how this was found.
    ///
    /// Every `*_ticks` is net: the cost of the reads, the loop and the fences around the call is subtracted, or that of the baseline given to
    /// [`minus`](super::Measure::minus).
    #[must_use = "it prints nothing by itself"]
    pub struct Measurement {
        /// The name that the caller gave to the work.
        name: String => &str,
        /// Whether the work is constant; if not, the reason.
        verdict: Verdict => &Verdict,
        /// The samples without a known interruption. All figures are computed from these.
        samples: usize,
        /// The samples during which the thread was preempted, migrated or signalled. They were discarded and taken again.
        interrupted: usize,
        /// Whether interruptions are detected on this platform.
        interruptions_detected: bool,
        /// Calls between two reads of the counter.
        calls_per_sample: usize,
        /// The mean without outliers.
        mean_ticks: f64,
        /// The standard error of the mean. It combines those of the samples and of the baseline, and what the core's clock moved by.
        std_error_ticks: f64,
        /// The standard deviation of all samples, in percent of their mean. `None` if the mean is 0.
        spread_percent: Option<f64>,
        /// The smallest sample.
        min_ticks: f64,
        /// The mode: the value around which the samples are densest.
        mode_ticks: f64,
        /// The 10 % quantile.
        p10_ticks: f64,
        /// The median.
        p50_ticks: f64,
        /// The 90 % quantile.
        p90_ticks: f64,
        /// The 99 % quantile.
        p99_ticks: f64,
        /// The greatest sample.
        max_ticks: f64,
        /// The very first call, with cold caches.
        first_ticks: f64,
        /// Core cycles per call, converted from ticks with the reference chain that runs in the same rounds. `None` if there is no
        /// reference chain.
        core_cycles: Option<f64>,
        /// The standard error of the core cycles.
        std_error_core_cycles: Option<f64>,
        /// The core clock during the run.
        clock: Option<CoreRatio>,
        /// The ticks that were subtracted from a whole sample: the reads, and as many calls of the baseline.
        baseline_ticks: f64,
        /// The step of the counter.
        resolution_ticks: u64,
        /// The bytes that a call processes, if they were given.
        bytes: Option<u64>,
        /// How the run settled: the first calls one by one, then the constant value.
        settling: Vec<Step> => &[Step],
        /// Remarks on options that had no effect: for example, the thread could not be pinned.
        remarks: Vec<String> => &[String],
    }
}

impl Measurement {
    /// Whether the verdict is [`Verdict::Constant`].
    #[must_use]
    pub fn is_constant(&self) -> bool {
        matches!(self.verdict, Verdict::Constant { .. })
    }

    /// Core cycles per byte, or ticks per byte if core cycles are not known.
    #[must_use]
    pub fn per_byte(&self) -> Option<f64> {
        let bytes = self.bytes.filter(|bytes| *bytes > 0)?;
        Some(self.core_cycles.unwrap_or(self.mean_ticks) / bytes as f64)
    }

    /// The figures of these net ticks per call, in the order of a run with samples of `batch` calls.
    pub(super) fn of(plan: &Plan, verdict: Verdict, ticks: &[f64], batch: usize) -> Self {
        let samples = Distribution::new(ticks);
        let centre = centre_of_run(ticks, 2.0 * plan.step as f64 / batch as f64);
        let (mean, deviation) = samples.moments();
        Self {
            name: plan.name.clone(),
            verdict,
            samples: samples.len(),
            interrupted: 0,
            interruptions_detected: false,
            calls_per_sample: batch,
            mean_ticks: centre.mean,
            std_error_ticks: centre.std_error,
            spread_percent: Some(100.0 * deviation / mean.abs()).filter(|it| it.is_finite()),
            min_ticks: samples.quantile(0.0),
            mode_ticks: samples.mode(),
            p10_ticks: samples.quantile(0.1),
            p50_ticks: samples.median(),
            p90_ticks: samples.quantile(0.9),
            p99_ticks: samples.quantile(0.99),
            max_ticks: samples.quantile(1.0),
            first_ticks: f64::NAN,
            core_cycles: None,
            std_error_core_cycles: None,
            clock: None,
            baseline_ticks: f64::NAN,
            resolution_ticks: plan.step,
            bytes: plan.bytes,
            settling: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// Adds how the run settled, of which these were the first calls.
    pub(super) fn begin_with(&mut self, first: &[f64]) {
        self.settling = settling(first, self.mean_ticks, self.resolution_ticks, &self.verdict);
        self.first_ticks = first.first().copied().unwrap_or(f64::NAN);
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
