//! The cells of a record's figures. The table of figures in `tsc-report/src/data/sums.rs` declares them, and with them the code that reads
//! and forgets them. So a figure cannot be forgotten in one of these places.

use super::pages::Zeroed;
use crate::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use tsc_report::__private::{Combine, How, figures};
use tsc_report::{CallsiteSums, SumOfSquares};

/// A figure of a record. One thread writes it, and others may read it.
pub(crate) trait FigureCell {
    /// The type of the figure in sums.
    type Total;
    fn read(&self) -> Self::Total;
    /// Forgets an extreme that was taken, unless there is another one by now.
    fn forget(&self, _taken: &Self::Total) {}
}

/// The figures of a place in a call tree.
pub(crate) trait Figures:
    FigureCell<Total: Clone + Combine + Default + PartialEq> + Zeroed
{
    /// Adds to all of them.
    fn add(&self, part: &Self::Total);
}

/// A sum that needs 128 bits: the low half, and the high one.
#[derive(Debug)]
pub(crate) struct WideSum([Count; 2]);

/// The smallest or the greatest of some ticks. `NONE` is its value if there are none, which every other one replaces.
#[derive(Debug)]
pub(crate) struct Extreme<const NONE: i64>(AtomicI64);
type Min = Extreme<{ i64::MAX }>;
type Max = Extreme<{ i64::MIN }>;

// Input:  number! { /// Doc. Count in AtomicU64 of u64 }
// Output: struct Count(AtomicU64) with `new`, `get` and `set`
macro_rules! number {
    ($(#[$doc:meta])* $name:ident in $atomic:ident of $type:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub(crate) struct $name($atomic);

        impl $name {
            pub(crate) const fn new() -> Self {
                Self($atomic::new(0))
            }

            #[inline(always)]
            pub(crate) fn get(&self) -> $type {
                self.0.load(Relaxed)
            }

            #[inline(always)]
            pub(crate) fn set(&self, value: $type) {
                self.0.store(value, Relaxed);
            }
        }

        impl FigureCell for $name {
            type Total = $type;

            fn read(&self) -> $type {
                self.get()
            }
        }
    };
}

number! {
    /// A count of something.
    Count in AtomicU64 of u64
}
number! {
    /// A sum of ticks. It may be negative, because the cost of nested probes is only known on average.
    Sum in AtomicI64 of i64
}

impl Count {
    /// A single instruction on x86-64, so that a signal handler that adds to the same count runs before or after it, not in between.
    /// (Compilers usually generate one instruction anyway, but not in every build.)
    #[inline(always)]
    pub(crate) fn add(&self, count: u64) {
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
    #[inline(always)]
    pub(crate) fn add(&self, ticks: i64) {
        self.set(self.get().wrapping_add(ticks));
    }
}

impl WideSum {
    const fn new() -> Self {
        Self([const { Count::new() }; 2])
    }

    pub(super) fn add(&self, value: u128) {
        let sum = self.read().0.wrapping_add(value);
        self.0[0].set(sum as u64);
        self.0[1].set((sum >> 64) as u64);
    }
}

impl<const NONE: i64> Extreme<NONE> {
    const fn new() -> Self {
        Self(AtomicI64::new(NONE))
    }

    pub(super) fn get(&self) -> i64 {
        self.0.load(Relaxed)
    }

    pub(super) fn add(&self, ticks: i64) {
        let further = if NONE == i64::MAX { i64::min } else { i64::max };
        self.0.store(further(ticks, self.get()), Relaxed);
    }
}

impl FigureCell for WideSum {
    type Total = SumOfSquares;

    fn read(&self) -> SumOfSquares {
        let high = u128::from(self.0[1].get());
        SumOfSquares(high << 64 | u128::from(self.0[0].get()))
    }
}

impl<const NONE: i64> FigureCell for Extreme<NONE> {
    type Total = Option<i64>;

    fn read(&self) -> Option<i64> {
        Some(self.get()).filter(|&extreme| extreme != NONE)
    }

    fn forget(&self, taken: &Option<i64>) {
        if self.read() == *taken {
            self.0.store(NONE, Relaxed);
        }
    }
}

/// The cell of a figure, by its type and its rule.
macro_rules! CellOf {
    (u64 by Add) => {
        Count
    };
    (i64 by Add) => {
        Sum
    };
    (SumOfSquares by Add) => {
        WideSum
    };
    (Option<i64> by Least) => {
        Min
    };
    (Option<i64> by Greatest) => {
        Max
    };
}

// Input:  cells! { /// Docs. Counters of CallsiteSums; /// Doc. samples: u64 by Add, … }
// Output: struct Counters { /// Doc. samples: Count, … } with `new`, and as a cell of all of these figures
macro_rules! cells {
    (
        $(#[$cells_doc:meta])* $cells:ident of $sums:ident;
        $($(#[$doc:meta])* $name:ident: $type:ident $(< $of:ident >)? by $rule:ident,)*
    ) => {
        $(#[$cells_doc])*
        #[derive(Debug)]
        #[repr(C)]
        pub(crate) struct $cells {
            $($(#[$doc])* pub(crate) $name: CellOf!($type $(< $of >)? by $rule),)*
        }

        impl $cells {
            #[allow(dead_code)] // cells that are created as zeroed memory do not use it
            pub(super) const fn new() -> Self {
                Self { $($name: <CellOf!($type $(< $of >)? by $rule)>::new(),)* }
            }
        }

        /// The figures of one thread. Those without a cell keep their defaults.
        impl FigureCell for $cells {
            type Total = $sums;

            fn read(&self) -> $sums {
                #[allow(clippy::needless_update)] // there may be no others
                $sums {
                    $($name: self.$name.read(),)*
                    ..$sums::default()
                }
            }

            fn forget(&self, taken: &$sums) {
                $(FigureCell::forget(&self.$name, &taken.$name);)*
            }
        }
    };
}

// Input:  counters! { /// Doc. record samples: u64 by Add, /// Doc. stop nested: i64 by Add, /// Doc. report threads: u64 by Latest, … }
// Output: cells! { Counters of CallsiteSums; /// Doc. nested: i64 by Add, /// Doc. samples: u64 by Add, … }
macro_rules! counters {
    ($(
        $(#[$doc:meta])*
        $(stop $hot:ident: $hot_type:ident by $hot_rule:ident)?
        $(record $name:ident: $type:ident $(< $of:ident >)? by $rule:ident)?
        $(light $light:ident: $light_type:ident by $light_rule:ident)?
        $(report $other:ident: $other_type:ident $(< $other_of:ident >)? by $other_rule:ident)?,
    )*) => {
        cells! {
            /// The figures of a record. Those that the stop of an ordinary call may write come first, beside the record's buffer.
            Counters of CallsiteSums;
            $($(/// See [`CallsiteSums`].
                $hot: $hot_type by $hot_rule,)?)*
            $($(/// See [`CallsiteSums`].
                $name: $type $(< $of >)? by $rule,)?)*
        }
    };
}

figures!(counters);

// Input:  sums! { ContextSums in ContextFigures; /// Doc. calls: u64, … }
// Output: struct ContextSums { /// Doc. calls: u64, … }, which can be added and subtracted, and cells! { ContextFigures of ContextSums; … }
macro_rules! sums {
    (
        $(#[$sums_doc:meta])* $sums:ident in $cells:ident;
        $($(#[$doc:meta])* $name:ident: $type:ident,)*
    ) => {
        $(#[$sums_doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(crate) struct $sums {
            $($(#[$doc])* pub(crate) $name: $type,)*
        }

        impl Combine for $sums {
            fn combine(&mut self, other: &Self, how: How) {
                $(self.$name.combine(&other.$name, how);)*
            }
        }

        impl Figures for $cells {
            #[inline(always)]
            fn add(&self, part: &$sums) {
                $(self.$name.add(part.$name);)*
            }
        }

        // SAFETY: it consists of atomics, which may be 0.
        unsafe impl Zeroed for $cells {}

        cells! {
            /// The cells of one of these, which a single thread writes.
            $cells of $sums;
            $($(#[$doc])* $name: $type by Add,)*
        }
    };
}

sums! {
    /// What is counted for a node of the call tree, in net ticks.
    ContextSums in ContextFigures;
    /// Calls that have returned.
    calls: u64,
    /// Ticks on the CPU in outermost activations.
    on_cpu: i64,
    /// Ticks on the CPU outside annotated callees, in all calls.
    own: i64,
    /// Ticks blocked in outermost activations.
    blocked: i64,
    /// Calls that were interrupted, or of which this is unknown.
    unclean: u64,
}

sums! {
    /// What the ticks of the clock add up to that were found in one place.
    PathSums in PathFigures;
    /// Ticks of the clock that found the thread on the CPU.
    ticks: u64,
    /// Time on the CPU, in ticks of the counter.
    on_cpu: i64,
    /// Time off the CPU, likewise.
    off: i64,
    /// The part of it in which the thread was ready to run.
    waiting: i64,
    /// The sum of the squares of the times that single ticks stand for by chance, in units of [`UNIT`](Self::UNIT) ticks squared.
    squares: u64,
}
