//! The reads on aarch64: the virtual count of the generic timer.
//!
//! The ISB before the read waits for earlier instructions; the ISB after it keeps later ones from beginning. CPUs with FEAT_ECV have a second
//! name for the same counter, CNTVCTSS_EL0, whose reads wait for earlier instructions by themselves (Arm Architecture Reference Manual:
//! "self-synchronized"). Where the CPU has it, it replaces the first ISB. The architecture offers no choice of fences, so every policy
//! except `none` uses these.

use core::arch::asm;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::{Ticks, TscUnavailable};

#[path = "one_fence.rs"]
mod one_fence;

pub(crate) use one_fence::*;

/// Whether the CPU has CNTVCTSS_EL0. Set by [`detect`], which runs before the first read.
static IS_SELF_SYNCHRONIZED: AtomicBool = AtomicBool::new(false);

macro_rules! read {
    ($($instruction:literal),+) => {{
        let ticks: Ticks;
        // SAFETY: ISB only orders instructions. User code may read CNTVCT_EL0 on every system that Rust's std supports, and CNTVCTSS_EL0
        // (S3_3_C14_C0_6) wherever it may read CNTVCT_EL0 and the CPU has it; callers have made sure of that by `detect`.
        unsafe {
            asm!($($instruction),+, ticks = out(reg) ticks, options(nostack, preserves_flags));
        }
        ticks
    }};
}

#[inline(always)]
pub(super) fn start_lfence() -> Ticks {
    if IS_SELF_SYNCHRONIZED.load(Relaxed) {
        return read!("mrs {ticks}, S3_3_C14_C0_6", "isb");
    }
    read!("isb", "mrs {ticks}, cntvct_el0", "isb")
}

#[inline(always)]
pub(super) fn stop_lfence() -> Ticks {
    if IS_SELF_SYNCHRONIZED.load(Relaxed) {
        return read!("mrs {ticks}, S3_3_C14_C0_6");
    }
    read!("isb", "mrs {ticks}, cntvct_el0")
}

#[inline(always)]
pub(super) fn read_bare() -> Ticks {
    read!("mrs {ticks}, cntvct_el0")
}

/// Determines which of the counter's names the CPU has. This thread may always read the counter.
///
/// # Errors
///
/// This function does not fail here.
pub fn detect() -> Result<(), TscUnavailable> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    IS_SELF_SYNCHRONIZED.store(has_ecv(), Relaxed);
    Ok(())
}

/// How the counter is read, for people.
pub(crate) fn reads() -> &'static str {
    if IS_SELF_SYNCHRONIZED.load(Relaxed) {
        "CNTVCTSS_EL0, which needs no ISB before it (FEAT_ECV)"
    } else {
        "CNTVCT_EL0, with an ISB before it"
    }
}

/// Whether the CPU has FEAT_ECV. On other systems than Linux this is not asked, and the reads have an ISB.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn has_ecv() -> bool {
    const HWCAP_CPUID: libc::c_ulong = 1 << 11;
    const ECV: u32 = 60;
    // SAFETY: the argument is a number.
    if unsafe { libc::getauxval(libc::AT_HWCAP) } & HWCAP_CPUID == 0 {
        return false;
    }
    let features: u64;
    // SAFETY: where the kernel sets HWCAP_CPUID, it lets user code read the ID registers.
    unsafe {
        asm!("mrs {}, ID_AA64MMFR0_EL1", out(reg) features, options(nomem, nostack, preserves_flags));
    }
    features >> ECV & 0xf != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_names_are_of_the_same_counter() {
        let _ = detect();
        for _ in 0..1000 {
            let (before, start, stop, after) =
                (read_bare(), start_lfence(), stop_lfence(), read_bare());
            assert!(before <= start && start <= stop, "{before} {start} {stop}");
            // A bare read may execute early, but not by a millisecond.
            assert!(stop - after.min(stop) < 1_000_000, "{stop} {after}");
        }
    }
}
