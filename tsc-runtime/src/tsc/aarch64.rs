//! The reads on aarch64: the generic timer's virtual count.
//!
//! ISB before the read waits for earlier instructions; ISB after it keeps later ones from beginning. The architecture has no
//! choice of fences here, so every policy but `none` is this one.

use core::arch::asm;

use super::{Fence, Ticks, TscUnavailable};

macro_rules! read {
    ($($before:literal),*; $($after:literal),*) => {{
        let ticks: Ticks;
        // SAFETY: ISB only orders, and CNTVCT_EL0 is readable by user code on every system that Rust's std supports.
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

/// Finds out whether the counter may be read by this thread: always, here.
///
/// # Errors
///
/// None on this architecture.
pub fn detect() -> Result<(), TscUnavailable> {
    Ok(())
}
