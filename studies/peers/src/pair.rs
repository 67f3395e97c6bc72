//! Contestants that read a clock twice and record nothing, for comparison with the others.

use std::arch::asm;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::{Contestant, Functions, Readings, work};

/// Two reads of a clock.
pub trait Pair {
    type Start;
    fn start() -> Self::Start;
    /// In whatever unit.
    fn stop(start: Self::Start) -> u64;
    fn ns_per_unit() -> f64 {
        1.0
    }
}

/// The last difference. To keep it somewhere keeps the compiler from not computing it.
static LAST: AtomicU64 = AtomicU64::new(0);

/// A pair as a contestant.
pub struct Kept<P>(PhantomData<P>);

impl<P: Pair> Contestant for Kept<P> {
    fn start() -> Self {
        Self(PhantomData)
    }

    fn report(self) -> Readings {
        Readings::default()
    }

    fn last() -> Option<f64> {
        Some(LAST.load(Relaxed) as f64 * P::ns_per_unit())
    }
}

impl<P: Pair> Kept<P> {
    pub const FUNCTIONS: Functions = Functions {
        empty: empty::<P>,
        chain: chain::<P>,
        fib: fib::<P>,
    };
}

#[inline(never)]
fn empty<P: Pair>(value: u64) -> u64 {
    let start = P::start();
    LAST.store(P::stop(start), Relaxed);
    value
}

#[inline(never)]
fn chain<P: Pair>(value: u64) -> u64 {
    let start = P::start();
    let value = work::chain(value);
    LAST.store(P::stop(start), Relaxed);
    value
}

#[inline(never)]
fn fib<P: Pair>(value: u64) -> u64 {
    let start = P::start();
    let value = if value < 2 {
        value
    } else {
        fib::<P>(value - 1) + fib::<P>(value - 2)
    };
    LAST.store(P::stop(start), Relaxed);
    value
}

/// Reads of the counter, with these instructions around them.
macro_rules! read {
    ($($instruction:literal),+) => {{
        let (low, high): (u64, u64);
        // SAFETY: every x86-64 has RDTSC; RDTSCP, in the standard pair, has every one of the last fifteen years.
        unsafe { asm!($($instruction),+, out("rax") low, out("rdx") high, out("rcx") _, options(nostack, preserves_flags)) };
        high << 32 | low
    }};
}

macro_rules! ticks_pair {
    ($(#[$doc:meta])* $name:ident: $($start:literal),+; $($stop:literal),+) => {
        $(#[$doc])*
        pub struct $name;

        impl Pair for $name {
            type Start = u64;

            #[inline(always)]
            fn start() -> u64 {
                read!($($start),+)
            }

            #[inline(always)]
            fn stop(start: u64) -> u64 {
                read!($($stop),+).wrapping_sub(start)
            }

            fn ns_per_unit() -> f64 {
                crate::clock::ns_per_tick()
            }
        }
    };
}

ticks_pair! {
    /// The fence floor: the pair that the literature recommends.
    Standard: "lfence", "rdtsc", "lfence"; "rdtscp", "lfence"
}
ticks_pair! {
    /// What `#[cycles]` executes by default.
    Lean: "lfence", "rdtsc", "lfence"; "lfence", "rdtsc"
}
ticks_pair! {
    /// No fence at all.
    Bare: "rdtsc"; "rdtsc"
}

/// The program for a type like the standard library's `Instant`.
#[macro_export]
macro_rules! instants {
    ($instant:ty) => {
        struct Instants;

        impl $crate::pair::Pair for Instants {
            type Start = $instant;

            #[inline(always)]
            fn start() -> $instant {
                <$instant>::now()
            }

            #[inline(always)]
            fn stop(start: $instant) -> u64 {
                start.elapsed().as_nanos() as u64
            }
        }

        fn main() {
            type Kept = $crate::pair::Kept<Instants>;
            $crate::run::<Kept>(&Kept::FUNCTIONS);
        }
    };
}
