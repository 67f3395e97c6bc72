//! Example programs, and the code that several of them or the tests use.

#[cfg(target_arch = "x86_64")]
pub mod catalogue;
pub mod command;
#[cfg(target_arch = "x86_64")]
pub mod ladder;
// The directives for the assembler are those of ELF.
#[cfg(all(target_arch = "x86_64", not(any(windows, target_vendor = "apple"))))]
pub mod routines;

use tsc_runtime::affinity;

/// Keeps the calling thread on the last CPU that it may use until the guard is dropped. The first CPUs handle most interrupts.
///
/// `None` if threads cannot be pinned. The figures then vary more, but are not wrong.
pub fn stay_on_one_cpu() -> Option<affinity::Pinned> {
    let cpus = affinity::cpus().ok()?;
    affinity::pin(*cpus.last()?).ok()
}
