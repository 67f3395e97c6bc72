//! Chains whose length in core cycles is known beforehand: what turns ticks into core cycles without a PMU.
//!
//! A dependent `add r, r` takes one core cycle on every x86-64 since the first and on every ARMv8-A; so do not `add r, imm`,
//! `inc` and `dec`, which Golden Cove and its successors fold at rename. A dependent 64-bit `imul r, r` takes three from
//! Nehalem and Zen on: measured in the same round, its ratio shows whether the chain was one, and its clock the core's.

#[cfg(all(target_arch = "x86_64", not(miri)))]
use crate::tsc::{FencePolicy, Lfence, Ticks, elapsed};

/// Links of a chain in each block.
pub(crate) const LINKS_PER_BLOCK: u64 = 100;

macro_rules! chain {
    ($(#[$doc:meta])* $name:ident, $link:literal) => {
        $(#[$doc])*
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        #[inline(never)]
        pub(crate) fn $name(blocks: u64) -> i64 {
            let start: Ticks = Lfence::start();
            // SAFETY: integer arithmetic on declared registers; the loop ends after `blocks` rounds, one if `blocks` is 0.
            unsafe {
                core::arch::asm!(
                    ".p2align 6",
                    "2:",
                    ".rept 100",
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

        /// No chain of known length on this architecture.
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        pub(crate) fn $name(_blocks: u64) -> i64 {
            0
        }
    };
}

chain! {
    /// The ticks that `blocks` × [`LINKS_PER_BLOCK`] dependent additions take: as many core cycles, and the fences' cost.
    additions, "add {x}, {y}"
}

chain! {
    /// The ticks that `blocks` × [`LINKS_PER_BLOCK`] dependent multiplications take: three times as many core cycles.
    multiplications, "imul {x}, {y}"
}

/// Whether the chains exist here.
pub(crate) const AVAILABLE: bool = cfg!(all(target_arch = "x86_64", not(miri)));

/// Forty dependent additions, to be inlined where they are measured.
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
