//! Chains of instructions whose length in core cycles is known. They convert ticks to core cycles without performance counters (PMU).
//!
//! A dependent `add r, r` takes one core cycle on every x86-64 and every ARMv8-A CPU. This does not hold for `add r, imm`, `inc` and
//! `dec`, which Golden Cove and its successors execute at register renaming. A dependent 64-bit `imul r, r` takes three cycles on Nehalem,
//! Zen and later CPUs. Both chains are measured in the same round. If a multiplication took three times as long as an addition, then the
//! additions took one cycle each, and the result is the core clock.

use super::statistics::median;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use crate::tsc::{FencePolicy, Lfence, Ticks, elapsed};

/// A chain consists of blocks, each with this number of instructions (links). They are long because the branch at the end of a block may cost
/// a cycle while the core's other thread is busy: blocks of 100 links took half a percent longer then.
pub(crate) const LINKS_PER_BLOCK: u64 = 1000;
/// The blocks of the shorter of two chains whose difference tells the core clock: at least so many. One block alone took up to three cycles
/// more than the second of two, on a Xeon, so that the clock of 1 and 2 blocks was 0.2 to 0.4 % too high, and that of 4 and 8 less than
/// 0.1 % (`default` of `studies/instrument_checks`, in turns).
pub(crate) const LEAST_BLOCKS: u64 = 4;

macro_rules! chain {
    ($(#[$doc:meta])* $name:ident, $links:literal, $link:literal) => {
        $(#[$doc])*
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        #[inline(never)]
        pub(crate) fn $name(blocks: u64) -> i64 {
            let start: Ticks = Lfence::start();
            // SAFETY: integer arithmetic on declared registers. The loop ends after `blocks` rounds, or after one if `blocks` is 0.
            unsafe {
                core::arch::asm!(
                    ".p2align 6",
                    "2:",
                    concat!(".rept ", $links),
                    $link,
                    ".endr",
                    "dec {blocks}",
                    "jnz 2b",
                    x = inout(reg) 1u64 => _,
                    y = in(reg) 3u64,
                    blocks = inout(reg) blocks.max(1) => _,
                    options(nostack),
                );
            }
            elapsed(start, Lfence::stop())
        }

        $(#[$doc])*
        ///
        /// Here it does nothing: there is no chain of known length on this architecture.
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        pub(crate) fn $name(_blocks: u64) -> i64 {
            0
        }
    };
}

chain! {
    /// Runs `blocks` × [`LINKS_PER_BLOCK`] dependent additions and returns the ticks: one core cycle for each, and the cost of the fences.
    additions, 1000, "add {x}, {y}"
}

chain! {
    /// Runs `blocks` × [`LINKS_PER_BLOCK`] dependent multiplications and returns the ticks: three core cycles for each, and the cost of
    /// the fences.
    multiplications, 1000, "imul {x}, {y}"
}

chain! {
    /// Runs `blocks` × [`LINKS_PER_BLOCK`] NOPs, no chain: as many in a cycle as the core can start. If its other thread (SMT) is busy, it has
    /// part of these places.
    #[cfg(feature = "instructions")]
    nops, 1000, "nop # {x} {y}"
}

chain! {
    /// Runs `blocks` × 100 dependent additions. All of a block are in the core at the same time.
    short_additions, 100, "add {x}, {y}"
}

chain! {
    /// Runs `blocks` × 100 dependent multiplications.
    short_multiplications, 100, "imul {x}, {y}"
}

/// Whether the chains exist here.
pub(crate) const AVAILABLE: bool = cfg!(all(target_arch = "x86_64", not(miri)));

/// The rounds in which a chain took about as many ticks as usual. A change of the core's clock makes a smaller difference. An interruption
/// makes the difference of two runs far too great or far too small.
pub(crate) fn undisturbed<T: Copy>(rounds: &[T], ticks: impl Fn(&T) -> f64) -> Vec<T> {
    let usual = median(rounds.iter().map(&ticks).collect()).unwrap_or(0.0);
    let is_usual = |round: &T| (0.75 * usual..1.25 * usual).contains(&ticks(round));
    rounds.iter().copied().filter(is_usual).collect()
}

/// Executes forty dependent additions, which are inlined into the measured code.
#[cfg(feature = "instruments")]
#[inline(always)]
pub(crate) fn forty_additions() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: integer arithmetic on declared registers.
    unsafe {
        core::arch::asm!(
            ".rept 40",
            "add {x}, {y}",
            ".endr",
            x = inout(reg) 1u64 => _,
            y = in(reg) 3u64,
            options(nostack),
        );
    }
}
