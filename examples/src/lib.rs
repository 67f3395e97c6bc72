//! Example programs, and what several of them or the tests use.

#[cfg(target_arch = "x86_64")]
pub mod ladder;
#[cfg(target_arch = "x86_64")]
pub mod routines;
