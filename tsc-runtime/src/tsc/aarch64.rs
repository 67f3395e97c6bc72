//! The reads on aarch64: the virtual count of the generic timer.
//!
//! The ISB before the read waits for earlier instructions; the ISB after it keeps later ones from beginning. The architecture offers no
//! choice of fences, so every policy except `none` uses these.

use core::arch::asm;

use super::{Fence, Ticks, TscUnavailable};

macro_rules! read {
    ($($before:literal),*; $($after:literal),*) => {{
        let ticks: Ticks;
        // SAFETY: ISB only orders instructions. User code may read CNTVCT_EL0 on every system that Rust's std supports.
        unsafe {
            asm!($($before,)* "mrs {ticks}, cntvct_el0", $($after,)* ticks = out(reg) ticks, options(nostack, preserves_flags));
        }
        ticks
    }};
}

#[inline(always)]
pub(super) fn start_lfence() -> Ticks {
    read!("isb"; "isb")
}

#[inline(always)]
pub(super) fn stop_lfence() -> Ticks {
    read!("isb";)
}

#[inline(always)]
pub(super) fn read_bare() -> Ticks {
    read!(;)
}

pub(super) use start_lfence as start_mfence;
pub(super) use start_lfence as start_serialize;
pub(super) use start_lfence as start_cpuid;
pub(super) use start_lfence as start_cpuid_start;
pub(super) use stop_lfence as stop_rdtscp;
pub(super) use stop_lfence as stop_mfence;
pub(super) use stop_lfence as stop_serialize;
pub(super) use stop_lfence as stop_cpuid;
pub(super) use stop_lfence as stop_cpuid_start;

pub(super) fn supports(fence: Fence) -> bool {
    matches!(fence, Fence::Lfence | Fence::Unfenced)
}

/// Determines whether this thread may read the counter. On this architecture it always may.
///
/// # Errors
///
/// This function does not fail here.
pub fn detect() -> Result<(), TscUnavailable> {
    Ok(())
}
