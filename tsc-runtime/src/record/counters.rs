//! What a record counts: each figure is declared once, with how the parts of several threads become one.
//!
//! From the declaration follow the record's cells, how they are read and taken off, and the field of [`Totals`] with its merging.
//! A figure that is left out of one of these cannot be written down.

use super::histogram::Histogram;
use crate::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// A figure of a record: one thread writes it, others may read it.
pub(crate) trait Cell {
    /// What it is worth in [`Totals`].
    type Total;
    /// Takes off what it was earlier. Extremes stay: see [`Record::take_off`](super::Record::take_off).
    fn take_off(&self, earlier: &Self::Total);
    fn read(&self) -> Self::Total;
    fn merge(total: &mut Self::Total, other: &Self::Total);
    /// Takes off what it was earlier. Extremes stay: see [`Totals::since`].
    fn subtract(total: &mut Self::Total, earlier: &Self::Total);
}

/// A count of something.
#[derive(Debug)]
pub(crate) struct Count(AtomicU64);

/// A sum of ticks, which may be below zero: the cost of nested probes is known on average only.
#[derive(Debug)]
pub(crate) struct Sum(AtomicI64);

/// A sum that needs 128 bits.
#[derive(Debug)]
pub(crate) struct WideSum {
    low: AtomicU64,
    high: AtomicU64,
}

/// A sum for statistics alone, which need not be exact.
#[derive(Debug)]
pub(crate) struct FloatSum(AtomicU64);

/// The least of some ticks; [`i64::MAX`] of none.
#[derive(Debug)]
pub(crate) struct Min(AtomicI64);

/// The greatest of some ticks; [`i64::MIN`] of none.
#[derive(Debug)]
pub(crate) struct Max(AtomicI64);

impl Count {
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    #[inline(always)]
    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    /// In one instruction on x86-64, so that a signal handler which adds to the same count comes before or after it. (Compilers make
    /// one of it anyway, but not in every build.)
    #[inline(always)]
    pub(super) fn add(&self, count: u64) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: adds to an atomic that this thread alone writes, which others see as they see a store.
        unsafe {
            core::arch::asm!("add qword ptr [{}], {}", in(reg) self.0.as_ptr(), in(reg) count, options(nostack));
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        self.set(self.get().wrapping_add(count));
    }
}

impl Sum {
    const fn new() -> Self {
        Self(AtomicI64::new(0))
    }

    #[inline(always)]
    pub(super) fn get(&self) -> i64 {
        self.0.load(Relaxed)
    }

    #[inline(always)]
    pub(super) fn set(&self, value: i64) {
        self.0.store(value, Relaxed);
    }

    #[inline(always)]
    pub(super) fn add(&self, ticks: i64) {
        self.set(self.get().wrapping_add(ticks));
    }
}

impl WideSum {
    const fn new() -> Self {
        Self {
            low: AtomicU64::new(0),
            high: AtomicU64::new(0),
        }
    }

    pub(super) fn add(&self, value: u128) {
        let sum = self.read().wrapping_add(value);
        self.low.store(sum as u64, Relaxed);
        self.high.store((sum >> 64) as u64, Relaxed);
    }
}

impl FloatSum {
    const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    pub(super) fn add(&self, value: f64) {
        self.0.store((self.read() + value).to_bits(), Relaxed);
    }
}

impl Min {
    const fn new() -> Self {
        Self(AtomicI64::new(i64::MAX))
    }

    pub(super) fn set(&self, ticks: Option<i64>) {
        self.0.store(ticks.unwrap_or(i64::MAX), Relaxed);
    }

    pub(super) fn get(&self) -> i64 {
        self.0.load(Relaxed)
    }

    pub(super) fn add(&self, ticks: i64) {
        self.0.store(ticks.min(self.get()), Relaxed);
    }
}

impl Max {
    const fn new() -> Self {
        Self(AtomicI64::new(i64::MIN))
    }

    pub(super) fn set(&self, ticks: Option<i64>) {
        self.0.store(ticks.unwrap_or(i64::MIN), Relaxed);
    }

    pub(super) fn get(&self) -> i64 {
        self.0.load(Relaxed)
    }

    pub(super) fn add(&self, ticks: i64) {
        self.0.store(ticks.max(self.get()), Relaxed);
    }
}

impl Cell for Count {
    type Total = u64;

    fn take_off(&self, earlier: &u64) {
        self.set(self.get().wrapping_sub(*earlier));
    }

    fn read(&self) -> u64 {
        self.get()
    }

    fn merge(total: &mut u64, other: &u64) {
        *total = total.wrapping_add(*other);
    }

    fn subtract(total: &mut u64, earlier: &u64) {
        *total = total.wrapping_sub(*earlier);
    }
}

impl Cell for Sum {
    type Total = i64;

    fn take_off(&self, earlier: &i64) {
        self.set(self.get().wrapping_sub(*earlier));
    }

    fn read(&self) -> i64 {
        self.get()
    }

    fn merge(total: &mut i64, other: &i64) {
        *total = total.wrapping_add(*other);
    }

    fn subtract(total: &mut i64, earlier: &i64) {
        *total = total.wrapping_sub(*earlier);
    }
}

impl Cell for WideSum {
    type Total = u128;

    fn take_off(&self, earlier: &u128) {
        let left = self.read().wrapping_sub(*earlier);
        self.low.store(left as u64, Relaxed);
        self.high.store((left >> 64) as u64, Relaxed);
    }

    fn read(&self) -> u128 {
        u128::from(self.high.load(Relaxed)) << 64 | u128::from(self.low.load(Relaxed))
    }

    fn merge(total: &mut u128, other: &u128) {
        *total = total.wrapping_add(*other);
    }

    fn subtract(total: &mut u128, earlier: &u128) {
        *total = total.wrapping_sub(*earlier);
    }
}

impl Cell for FloatSum {
    type Total = f64;

    fn take_off(&self, earlier: &f64) {
        self.0.store((self.read() - *earlier).to_bits(), Relaxed);
    }

    fn read(&self) -> f64 {
        f64::from_bits(self.0.load(Relaxed))
    }

    fn merge(total: &mut f64, other: &f64) {
        *total += *other;
    }

    fn subtract(total: &mut f64, earlier: &f64) {
        *total -= *earlier;
    }
}

impl Cell for Min {
    type Total = Option<i64>;

    fn take_off(&self, _: &Option<i64>) {}

    fn read(&self) -> Option<i64> {
        Some(self.get()).filter(|&min| min != i64::MAX)
    }

    fn merge(total: &mut Option<i64>, other: &Option<i64>) {
        *total = merge_option(*total, *other, i64::min);
    }

    fn subtract(_: &mut Option<i64>, _: &Option<i64>) {}
}

impl Cell for Max {
    type Total = Option<i64>;

    fn take_off(&self, _: &Option<i64>) {}

    fn read(&self) -> Option<i64> {
        Some(self.get()).filter(|&max| max != i64::MIN)
    }

    fn merge(total: &mut Option<i64>, other: &Option<i64>) {
        *total = merge_option(*total, *other, i64::max);
    }

    fn subtract(_: &mut Option<i64>, _: &Option<i64>) {}
}

pub(super) fn merge_option<T>(
    one: Option<T>,
    other: Option<T>,
    choose: fn(T, T) -> T,
) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(choose(one, other)),
        (one, other) => one.or(other),
    }
}

// Input:  Counters => Totals { threads: u64, }  /// Docs.  samples: Count;
// Output: the cell `samples` of `Counters` and of its `new`, `take_off` and `read`; the field `samples` of `Totals`, beside `threads`,
//         and of its `merge` and `subtract`, which leave `threads` to `merge_rest` and `subtract_rest`.
macro_rules! counters {
    (
        $(#[$cells_doc:meta])* $cells:ident =>
        $(#[$totals_doc:meta])* $totals:ident { $($rest:tt)* }
        $($(#[$doc:meta])* $name:ident: $cell:ident;)*
    ) => {
        $(#[$cells_doc])*
        #[derive(Debug)]
        #[repr(C)]
        pub(crate) struct $cells {
            $($(#[$doc])* pub(super) $name: $cell,)*
        }

        impl $cells {
            #[allow(dead_code)] // what is made of zeros needs none
            pub(super) const fn new() -> Self {
                Self { $($name: $cell::new(),)* }
            }

            pub(super) fn take_off(&self, earlier: &$totals) {
                $(Cell::take_off(&self.$name, &earlier.$name);)*
            }

            /// The figures of one thread; what is no figure of these cells is not in it.
            pub(super) fn read(&self) -> $totals {
                #[allow(clippy::needless_update)] // there may be nothing else
                $totals {
                    $($name: self.$name.read(),)*
                    ..$totals::default()
                }
            }
        }

        $(#[$totals_doc])*
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $totals {
            $($(#[$doc])* pub(crate) $name: <$cell as Cell>::Total,)*
            $($rest)*
        }

        impl $totals {
            /// Adds another thread's.
            pub(crate) fn merge(&mut self, other: &Self) {
                $(<$cell as Cell>::merge(&mut self.$name, &other.$name);)*
                self.merge_rest(other);
            }

            /// Takes off all counts and sums of earlier totals.
            pub(crate) fn subtract(&mut self, earlier: &Self) {
                $(<$cell as Cell>::subtract(&mut self.$name, &earlier.$name);)*
                self.subtract_rest(earlier);
            }
        }
    };
}

counters! {
    /// The figures of a record, in the order in which a stop touches them.
    Counters =>
    /// Sums over threads. Ticks are gross here (see [`Record`](super::Record)): the report takes the visible overhead out of
    /// them, with what it has measured by then.
    Totals {
        /// Threads that called it.
        pub(crate) threads: u64,
        /// Calls that have started and not returned.
        pub(crate) running: u64,
        /// What all probes saw of themselves, in whole ticks; and the part in activations inside others of the callsite.
        pub(crate) visible: i64,
        pub(crate) inner_visible: i64,
        /// N, of a sampled callsite; 0 of any other.
        pub(crate) sample: u32,
        /// The first call of the process: its registration's number and its ticks.
        pub(crate) first: Option<(u64, i64)>,
        /// Of the samples.
        pub(crate) histogram: Histogram,
        /// Of those among them that were interrupted; of the interrupted calls that are none; and of all interrupted calls by the wall,
        /// or of all futures.
        pub(crate) repaired_histogram: Histogram,
        pub(crate) excluded_histogram: Histogram,
        pub(crate) side_wall_histogram: Histogram,
    }
    /// What nested probes cost the calls.
    nested: Sum;
    /// The net ticks of annotated callees.
    callees: Sum;
    /// The activations inside others of the same callsite, which the inclusive total leaves out.
    inner: Count;
    inner_gross: Sum;
    inner_nested: Sum;
    /// Of the outermost activations: ticks off the CPU, and the part of them that the thread waited for a CPU.
    off: Sum;
    waiting: Sum;
    /// Ticks off the CPU outside annotated callees.
    own_off: Sum;
    /// Activations of which it is not known what of their time off the CPU was waiting, or whether they were off it at all.
    unsplit: Count;
    unasked: Count;
    /// The calls that are samples: not a thread's first, no anomaly, and not interrupted or long enough on the CPU all the same.
    samples: Count;
    sum: Sum;
    squares: WideSum;
    min: Min;
    max: Max;
    /// Each thread's first call: how many have returned, their ticks, and how many were interrupted.
    firsts: Count;
    first_sum: Sum;
    firsts_interrupted: Count;
    /// Samples that were interrupted, and the interrupted calls that are no samples.
    repaired: Count;
    excluded: Count;
    excluded_sum: Sum;
    /// Of both: ticks off the CPU, and the longest by the wall. Of async functions, the longest of all.
    calls_off: Sum;
    wall_max: Max;
    /// Calls whose ticks are negative; they are in no sum.
    anomalies: Count;
    /// Samples that may have been interrupted, for all that is known.
    unknown: Count;
    /// Bytes or items that calls work on.
    units: Count;
    /// Of async functions: polls and their ticks, which the samples only have once a future completes; ticks from the first poll to
    /// completion; futures dropped before completion.
    polls: Count;
    polls_gross: Sum;
    wall: Count;
    cancelled: Count;
    /// Of a sampled callsite: the calls that were counted and not timed, and those that its skip has announced.
    counted: Count;
    /// By how much the weights of its samples exceed their number.
    surplus: Count;
    /// The weights of all timed calls: how many calls the following sums stand for.
    weights: Count;
    /// Net ticks outside annotated callees, weighted; net and raw ticks of the activations inside no other, weighted.
    own: Sum;
    included: Sum;
    included_raw: Sum;
    /// For the error of a weighted mean: w² − w, times the powers of the samples from 0 to 2.
    excess: FloatSum;
    excess_sum: FloatSum;
    excess_squares: FloatSum;
    /// The same of the self ticks, and the variance that callees of which only some were timed bring into them.
    own_excess_sum: FloatSum;
    own_excess_squares: FloatSum;
    own_variance: FloatSum;
    /// What of `nested` registrations and reports took, in activations inside no other of the same callsite.
    registration_costs: Sum;
}

impl Totals {
    fn merge_rest(&mut self, other: &Self) {
        self.threads += other.threads;
        self.running += other.running;
        self.visible += other.visible;
        self.inner_visible += other.inner_visible;
        self.sample = self.sample.max(other.sample);
        self.first = merge_option(self.first, other.first, <(u64, i64)>::min);
        self.histogram.merge(&other.histogram);
        self.repaired_histogram.merge(&other.repaired_histogram);
        self.excluded_histogram.merge(&other.excluded_histogram);
        self.side_wall_histogram.merge(&other.side_wall_histogram);
    }

    fn subtract_rest(&mut self, earlier: &Self) {
        self.visible -= earlier.visible;
        self.inner_visible -= earlier.inner_visible;
        self.histogram.remove(&earlier.histogram);
        self.repaired_histogram.remove(&earlier.repaired_histogram);
        self.excluded_histogram.remove(&earlier.excluded_histogram);
        self.side_wall_histogram
            .remove(&earlier.side_wall_histogram);
    }
}

counters! {
    /// The figures of a node of the call tree.
    ContextFigures =>
    /// Sums over threads, in net ticks.
    ContextSums {}
    /// Calls that have returned.
    calls: Count;
    /// Ticks on the CPU, of the calls that ran in no other of the same callsite.
    on_cpu: Sum;
    /// Ticks on the CPU outside annotated callees, of all.
    own: Sum;
    /// Ticks off the CPU, of the calls that ran in no other of the same callsite.
    off: Sum;
    /// Calls that were interrupted or may have been.
    unclean: Count;
}

impl ContextSums {
    /// There is nothing beside the figures.
    fn merge_rest(&mut self, _other: &Self) {}

    fn subtract_rest(&mut self, _earlier: &Self) {}
}
