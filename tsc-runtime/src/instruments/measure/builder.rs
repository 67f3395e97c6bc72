//! How a measurement is asked for.

use std::marker::PhantomData;
use std::time::Duration;

use super::engine::{self, Plan};
use super::measurement::Measurement;
use super::verdict::UnsettledReason;
use super::work::{Calls, CallsOver, CallsWith, Work};
use crate::affinity;
use crate::calibration::reference_chain;
use crate::calibration::resolution;
use crate::tsc::{self, FencePolicy, Lfence};

/// A measurement to be made; ends with [`run`](Self::run), [`run_with`](Self::run_with), [`run_over`](Self::run_over) or
/// [`minus`](Self::minus).
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
    name: String,
    precision: f64,
    time_limit: Duration,
    warm_up: usize,
    batch: Option<usize>,
    isolated: bool,
    bytes: Option<u64>,
    items: Option<u64>,
    cpu: Option<usize>,
    urgent: bool,
    pair: PhantomData<P>,
}

impl Measure {
    /// A measurement that will be called `name`: to 1 %, in a second at most, with the default fences.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            precision: 0.01,
            time_limit: Duration::from_secs(1),
            warm_up: 64,
            batch: None,
            isolated: true,
            bytes: None,
            items: None,
            cpu: None,
            urgent: false,
            pair: PhantomData,
        }
    }
}

impl<P: FencePolicy> Measure<P> {
    /// The standard error at which the mean is known well enough, as a share of it: 0.01 is 1 %.
    pub fn precision(mut self, share: f64) -> Self {
        self.precision = if share.is_finite() {
            share.max(1e-6)
        } else {
            0.01
        };
        self
    }

    /// When to give up. Nothing of the work is cut short: the last sample may end a sample's length later.
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// Calls before the first sample, 64 unless it is said; the first eight are shown as the warm-up in any case.
    pub fn warm_up(mut self, calls: usize) -> Self {
        self.warm_up = calls;
        self
    }

    /// Calls between two reads, instead of as many as make a sample well longer than the counter's step.
    pub fn batch(mut self, calls: usize) -> Self {
        self.batch = Some(calls.max(1));
        self
    }

    /// Lets the calls of a batch overlap, as they would in a loop: what a call adds to the throughput. By default a fence stands
    /// before each, so that none begins before the last has ended: what a caller waits for.
    pub fn overlapping(mut self) -> Self {
        self.isolated = false;
        self
    }

    /// The bytes that a call handles, for a cost per byte.
    pub fn bytes(mut self, bytes: u64) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// The items that a call handles, for a cost per item.
    pub fn items(mut self, items: u64) -> Self {
        self.items = Some(items);
        self
    }

    /// Keeps the thread on CPU `cpu` meanwhile. If it cannot be, that becomes a remark.
    pub fn pin(mut self, cpu: usize) -> Self {
        self.cpu = Some(cpu);
        self
    }

    /// Raises the thread's priority meanwhile. If it cannot be, that becomes a remark.
    pub fn raise_priority(mut self) -> Self {
        self.urgent = true;
        self
    }

    /// Other fences around the samples: `.fence::<tsc::Mfence>()`.
    pub fn fence<Q: FencePolicy>(self) -> Measure<Q> {
        Measure {
            name: self.name,
            precision: self.precision,
            time_limit: self.time_limit,
            warm_up: self.warm_up,
            batch: self.batch,
            isolated: self.isolated,
            bytes: self.bytes,
            items: self.items,
            cpu: self.cpu,
            urgent: self.urgent,
            pair: PhantomData,
        }
    }

    /// Measures `work`; what an empty closure costs is subtracted.
    pub fn run<R>(self, work: impl FnMut() -> R) -> Measurement {
        self.against_nothing(&mut Calls::new(work), &mut Calls::new(|| ()))
    }

    /// Measures what `work` costs more than `baseline`.
    pub fn minus<A, B>(self, baseline: impl FnMut() -> A, work: impl FnMut() -> B) -> Measurement {
        self.engine(&mut Calls::new(work), &mut Calls::new(baseline), false)
    }

    /// Measures `work` on an input that `setup` makes anew for each call, outside of what is measured.
    pub fn run_with<I, R>(
        self,
        mut setup: impl FnMut() -> I,
        work: impl FnMut(&mut I) -> R,
    ) -> Measurement {
        // The empty call walks over inputs of nothing, which costs no memory traffic.
        self.against_nothing(
            &mut CallsWith::new(&mut setup, work),
            &mut CallsWith::new(|| (), |()| ()),
        )
    }

    /// Measures `work` on one input of `pool` after the other, round and round.
    pub fn run_over<I, R>(self, pool: &mut [I], work: impl FnMut(&mut I) -> R) -> Measurement {
        if pool.is_empty() {
            return Measurement::none(self.name, UnsettledReason::Nothing);
        }
        let mut nothing = vec![(); pool.len()];
        self.against_nothing(
            &mut CallsOver::new(pool, work),
            &mut CallsOver::new(&mut nothing, |()| ()),
        )
    }

    fn against_nothing(self, work: &mut impl Work, nothing: &mut impl Work) -> Measurement {
        let shadowed = self.isolated && reference_chain::AVAILABLE;
        self.engine(work, nothing, shadowed)
    }

    fn engine(self, work: &mut impl Work, baseline: &mut impl Work, shadowed: bool) -> Measurement {
        if let Err(reason) = tsc::detect() {
            return Measurement::none(self.name, UnsettledReason::NoCounter { reason });
        }
        let mut remarks = Vec::new();
        let pinned = self.cpu.map(affinity::pin).transpose();
        if let Err(why) = &pinned {
            remarks.push(why.to_string());
        }
        let urgent = self.urgent.then(affinity::raise_priority).transpose();
        if let Err(why) = &urgent {
            remarks.push(why.to_string());
        }
        let step = resolution::ticks();
        let plan = Plan {
            precision: self.precision,
            time_limit: self.time_limit,
            warm_up: self.warm_up,
            batch: self.batch,
            isolated: self.isolated,
            step,
            shadowed,
        };
        let outcome = engine::run::<P>(work, baseline, plan, &self.name);
        drop((pinned, urgent));
        Measurement {
            bytes: self.bytes,
            items: self.items,
            remarks,
            ..Measurement::new(self.name, outcome, step)
        }
    }
}
