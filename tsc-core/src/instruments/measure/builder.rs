//! The options of a measurement.

use std::marker::PhantomData;
use std::time::Duration;

use super::engine;
use super::measurement::{Measurement, Plan};
use super::verdict::{UnsettledReason, Verdict};
use super::work::{Calls, Work};
use crate::affinity;
use crate::calibration::{self, reference_chain, resolution};
use crate::tsc::{self, FencePolicy, Lfence};

/// A measurement with its options. [`run`](Self::run), [`run_with`](Self::run_with) or [`minus`](Self::minus) performs it.
///
/// ```no_run
/// use std::time::Duration;
/// use tsc_runtime::measure::Measure;
///
/// let text = "the quick brown fox";
/// let hash = Measure::new("hash")
///     .precision(0.005)
///     .time_limit(Duration::from_millis(200))
///     .bytes(text.len() as u64)
///     .run(|| text.bytes().fold(0_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into())));
/// println!("{hash}");
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is measured before `run`"]
pub struct Measure<P = Lfence> {
    plan: Plan,
    pair: PhantomData<P>,
}

impl Measure {
    /// A measurement with the name `name` and the default options: to a precision of 1 %, for at most a second, with the default fences.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            plan: Plan {
                name: name.into(),
                precision: 0.01,
                time_limit: Duration::from_secs(1),
                isolated: true,
                step: 1,
                ..Plan::default()
            },
            pair: PhantomData,
        }
    }
}

impl<P: FencePolicy> Measure<P> {
    /// The standard error at which the measurement ends, as a share of the mean, or of 25 core cycles for shorter work: 0.01 is 1 %. If the
    /// core cycles are not yet known to 0.06 % by then, it goes on for up to an eighth of the time limit.
    pub fn precision(mut self, share: f64) -> Self {
        // If it is not a number, `max` returns the other one.
        self.plan.precision = share.max(1e-6);
        self
    }

    /// The time after which the measurement ends in any case. Samples that have begun are completed, so the measurement may end later by
    /// their length.
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.plan.time_limit = limit;
        self
    }

    /// The number of calls between two reads of the counter. By default, it is chosen so that a sample is much longer than the counter's
    /// step.
    pub fn batch(mut self, calls: usize) -> Self {
        self.plan.batch = Some(calls.max(1));
        self
    }

    /// Lets the calls of a batch overlap, as in a loop; the result is their reciprocal throughput. By default a fence precedes each call,
    /// so that no call begins before the previous one has ended; the result is the time that a caller waits.
    pub fn overlapping(mut self) -> Self {
        self.plan.isolated = false;
        self
    }

    /// The number of bytes that a call processes, for a cost per byte.
    pub fn bytes(mut self, bytes: u64) -> Self {
        self.plan.bytes = Some(bytes);
        self
    }

    /// Keeps the thread on CPU `cpu` during the measurement. If that is not possible, the result has a remark.
    pub fn pin(mut self, cpu: usize) -> Self {
        self.plan.cpu = Some(cpu);
        self
    }

    /// Uses other fences around the samples: `.fence::<tsc::Mfence>()`.
    pub fn fence<Q: FencePolicy>(self) -> Measure<Q> {
        Measure {
            plan: self.plan,
            pair: PhantomData,
        }
    }

    /// Measures `work`, and subtracts what an empty closure costs.
    ///
    /// Results with a destructor are dropped after the sample, which is many calls. So a `work` that returns the guard of a lock waits for
    /// its own earlier guard, forever, unless [`batch`](Self::batch) is 1.
    pub fn run<R>(self, mut work: impl FnMut() -> R) -> Measurement {
        self.run_with(|| (), |()| work())
    }

    /// Measures how much more `work` costs than `baseline`.
    pub fn minus<A, B>(
        self,
        mut baseline: impl FnMut() -> A,
        mut work: impl FnMut() -> B,
    ) -> Measurement {
        let baseline = Calls::new(|| (), |()| baseline());
        self.engine(Calls::new(|| (), |()| work()), baseline, false)
    }

    /// Measures `work` on inputs that `setup` creates, a new one for each call. The time of `setup` is not included.
    pub fn run_with<I, R>(
        self,
        setup: impl FnMut() -> I,
        work: impl FnMut(&mut I) -> R,
    ) -> Measurement {
        let baseline_is_empty = self.plan.isolated && reference_chain::AVAILABLE;
        let nothing = Calls::new(|| (), |()| ());
        self.engine(Calls::new(setup, work), nothing, baseline_is_empty)
    }

    fn engine(self, work: impl Work, baseline: impl Work, baseline_is_empty: bool) -> Measurement {
        if let Err(reason) = tsc::detect() {
            let why = UnsettledReason::NoCounter { reason };
            return Measurement::of(&self.plan, Verdict::Unsettled { why }, &[], 1);
        }
        let pinned = self.plan.cpu.map(affinity::pin).transpose();
        // A core has at least 1 GHz. Only the counters of other architectures, for which there is no chain, are slower.
        let by_rate = || calibration::rate().map_or(1.0, |rate| (rate.hz / 1e9).min(1.0));
        let by_chain = reference_chain::AVAILABLE.then_some(1.0);
        let plan = Plan {
            step: resolution::ticks(),
            unit: by_chain.unwrap_or_else(by_rate),
            baseline_is_empty,
            ..self.plan
        };
        let mut measurement = engine::run::<P>(work, baseline, plan);
        let remarks = &mut measurement.remarks;
        remarks.extend(pinned.err().map(|why| why.to_string()));
        measurement
    }
}
