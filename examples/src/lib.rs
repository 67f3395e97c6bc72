//! Example programs, and what several of them or the tests use.

pub mod command;
#[cfg(target_arch = "x86_64")]
pub mod ladder;
// Its assembler's directives are those of ELF.
#[cfg(all(target_arch = "x86_64", not(any(windows, target_vendor = "apple"))))]
pub mod routines;

use tsc_runtime::affinity;

/// Keeps the calling thread on the last CPU it may use until the guard is dropped; the first ones serve most interrupts.
///
/// `None` where threads cannot be pinned: the figures are then less steady, not wrong.
pub fn stay_on_one_cpu() -> Option<affinity::Pinned> {
    let cpus = affinity::cpus().ok()?;
    affinity::pin(*cpus.last()?).ok()
}
