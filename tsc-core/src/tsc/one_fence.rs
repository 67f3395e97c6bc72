//! The reads of all policies with fences, where the architecture offers no choice of them; and CPUID, which it does not have.

use crate::tsc::Fence;

pub(in crate::tsc) use super::start_lfence as start_mfence;
pub(in crate::tsc) use super::start_lfence as start_serialize;
pub(in crate::tsc) use super::start_lfence as start_cpuid;
pub(in crate::tsc) use super::start_lfence as start_cpuid_start;
pub(in crate::tsc) use super::stop_lfence as stop_rdtscp;
pub(in crate::tsc) use super::stop_lfence as stop_mfence;
pub(in crate::tsc) use super::stop_lfence as stop_serialize;
pub(in crate::tsc) use super::stop_lfence as stop_cpuid;
pub(in crate::tsc) use super::stop_lfence as stop_cpuid_start;

pub(in crate::tsc) fn supports(fence: Fence) -> bool {
    matches!(fence, Fence::Lfence | Fence::Unfenced)
}

/// What a CPU returns that has no leaf.
pub(crate) fn cpuid(_leaf: u32, _subleaf: u32) -> [u32; 4] {
    [0; 4]
}
