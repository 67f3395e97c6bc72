//! The figures of a record. Each is declared once, together with the rule for adding the figures of several threads.
//!
//! The declaration generates the record's cells, the code that reads and subtracts them, and the field of [`Totals`] with its merging. So
//! a figure cannot be forgotten in one of these places.

use super::histogram::Histogram;
use super::slowest::{self, KeptCall};
use crate::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// A figure of a record. One thread writes it, and others may read it.
pub(crate) trait Cell {
    /// The type of the figure in [`Totals`].
    type Total;
    /// Subtracts an earlier value. Extremes do not change: see [`Record::take_off`](super::Record::take_off).
    fn take_off(&self, earlier: &Self::Total);
    fn read(&self) -> Self::Total;
    fn merge(total: &mut Self::Total, other: &Self::Total);
    /// Subtracts an earlier value. Extremes do not change: see [`Totals::since`].
    fn subtract(total: &mut Self::Total, earlier: &Self::Total);
}

/// A count of something.
#[derive(Debug)]
pub(crate) struct Count(AtomicU64);

/// A sum of ticks. It may be negative, because the cost of nested probes is only known on average.
#[derive(Debug)]
pub(crate) struct Sum(AtomicI64);

/// A sum that needs 128 bits.
#[derive(Debug)]
pub(crate) struct WideSum {
    low: AtomicU64,
    high: AtomicU64,
}

/// The smallest of some ticks; [`i64::MAX`] if there are none.
#[derive(Debug)]
pub(crate) struct Min(AtomicI64);

/// The greatest of some ticks; [`i64::MIN`] if there are none.
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

    /// A single instruction on x86-64, so that a signal handler that adds to the same count runs before or after it, not in between.
    /// (Compilers usually generate one instruction anyway, but not in every build.)
    #[inline(always)]
    pub(super) fn add(&self, count: u64) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: this adds to an atomic that only this thread writes. Other threads see it like a store.
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
    pub(crate) fn add(&self, ticks: i64) {
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
// Output: the cell `samples` of `Counters`, and its part of `new`, `take_off` and `read`; the field `samples` of `Totals`, beside
// `threads`, and its part of `merge` and `subtract`. `merge_rest` and `subtract_rest` handle `threads`.
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
            #[allow(dead_code)] // cells that are created as zeroed memory do not use it
            pub(super) const fn new() -> Self {
                Self { $($name: $cell::new(),)* }
            }

            pub(super) fn take_off(&self, earlier: &$totals) {
                $(Cell::take_off(&self.$name, &earlier.$name);)*
            }

            /// The figures of one thread. Fields of the totals that have no cell keep their defaults.
            pub(super) fn read(&self) -> $totals {
                #[allow(clippy::needless_update)] // there may be no other fields
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
            /// Adds another thread's figures.
            pub(crate) fn merge(&mut self, other: &Self) {
                $(<$cell as Cell>::merge(&mut self.$name, &other.$name);)*
                self.merge_rest(other);
            }

            /// Subtracts all counts and sums of earlier totals.
            pub(crate) fn subtract(&mut self, earlier: &Self) {
                $(<$cell as Cell>::subtract(&mut self.$name, &earlier.$name);)*
                self.subtract_rest(earlier);
            }
        }
    };
}

counters! {
    /// The figures of a record, in the order in which a stop uses them.
    Counters =>
    /// Sums over threads. Ticks are gross here (see [`Record`](super::Record)); the report subtracts the visible overhead, as it was
    /// measured by then.
    Totals {
        /// Threads that called it.
        pub(crate) threads: u64,
        /// Calls that have started and not returned.
        pub(crate) running: u64,
        /// The visible overhead of all probes, in whole ticks; and the part of it in activations inside others of the same callsite.
        pub(crate) visible: i64,
        pub(crate) inner_visible: i64,
        /// The first call of the process: the number of its registration, and its ticks.
        pub(crate) first: Option<(u64, i64)>,
        /// The samples.
        pub(crate) histogram: Histogram,
        /// Those of the samples that were interrupted; the interrupted calls that are not samples; and the wall times of all interrupted
        /// calls, or of all futures.
        pub(crate) repaired_histogram: Histogram,
        pub(crate) excluded_histogram: Histogram,
        pub(crate) side_wall_histogram: Histogram,
        /// The slowest calls, the longest first once they are merged.
        pub(crate) slowest: Vec<KeptCall>,
    }
    /// The cost of the probes nested in the calls.
    nested: Sum;
    /// The net ticks of annotated callees.
    callees: Sum;
    /// The activations inside others of the same callsite, which the inclusive total excludes.
    inner: Count;
    inner_gross: Sum;
    inner_nested: Sum;
    /// In outermost activations: the ticks off the CPU, and the part of them in which the thread waited for a CPU.
    off: Sum;
    waiting: Sum;
    /// Ticks off the CPU outside annotated callees, and the part of them in which the thread waited for a CPU.
    own_off: Sum;
    own_waiting: Sum;
    /// The ticks in which all activations were blocked, which the samples and the other sums of calls contain.
    calls_blocked: Sum;
    /// Activations whose time off the CPU cannot be divided into blocked and waiting; and interrupted ones whose time on the CPU is
    /// unknown.
    unsplit: Count;
    unasked: Count;
    /// The calls that are samples: neither a thread's first call nor an anomaly, and either not interrupted or long enough on the CPU.
    samples: Count;
    sum: Sum;
    squares: WideSum;
    min: Min;
    max: Max;
    /// First calls of threads: how many have returned, their ticks, and how many were interrupted.
    firsts: Count;
    first_sum: Sum;
    firsts_interrupted: Count;
    /// Samples that were interrupted, and interrupted calls that are not samples.
    repaired: Count;
    excluded: Count;
    excluded_sum: Sum;
    /// For both kinds of interrupted calls: by how much their wall time is longer, and the longest wall time. For async functions, the
    /// longest wall time of all calls.
    calls_waiting: Sum;
    wall_max: Max;
    /// Calls whose ticks are negative; they are in no sum.
    anomalies: Count;
    /// Calls that a panic ended.
    panicked: Count;
    /// Samples of which it is unknown whether they were interrupted.
    unknown: Count;
    /// Bytes or items that calls work on.
    units: Count;
    /// For async functions: the polls and their ticks (a future's ticks become a sample when it completes); the ticks from the first poll
    /// to completion; futures dropped before completion.
    polls: Count;
    polls_gross: Sum;
    wall: Count;
    cancelled: Count;
    /// The part of `nested` that registrations and reports took, in outermost activations.
    registration_costs: Sum;
}

impl Totals {
    fn merge_rest(&mut self, other: &Self) {
        self.threads += other.threads;
        self.running += other.running;
        self.visible += other.visible;
        self.inner_visible += other.inner_visible;
        self.first = merge_option(self.first, other.first, <(u64, i64)>::min);
        self.histogram.merge(&other.histogram);
        self.repaired_histogram.merge(&other.repaired_histogram);
        self.excluded_histogram.merge(&other.excluded_histogram);
        self.side_wall_histogram.merge(&other.side_wall_histogram);
        slowest::merge(&mut self.slowest, &other.slowest);
    }

    fn subtract_rest(&mut self, earlier: &Self) {
        self.visible -= earlier.visible;
        self.inner_visible -= earlier.inner_visible;
        self.histogram.remove(&earlier.histogram);
        self.repaired_histogram.remove(&earlier.repaired_histogram);
        self.excluded_histogram.remove(&earlier.excluded_histogram);
        self.side_wall_histogram
            .remove(&earlier.side_wall_histogram);
        slowest::subtract(&mut self.slowest, &earlier.slowest);
    }
}

counters! {
    /// The figures of a node of the call tree.
    ContextFigures =>
    /// Sums over threads, in net ticks.
    ContextSums {}
    /// Calls that have returned.
    calls: Count;
    /// Ticks on the CPU in outermost activations.
    on_cpu: Sum;
    /// Ticks on the CPU outside annotated callees, in all calls.
    own: Sum;
    /// Ticks blocked in outermost activations.
    blocked: Sum;
    /// Calls that were interrupted, or of which this is unknown.
    unclean: Count;
}

impl ContextSums {
    /// There are no other fields.
    fn merge_rest(&mut self, _other: &Self) {}

    fn subtract_rest(&mut self, _earlier: &Self) {}
}
