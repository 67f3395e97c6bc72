//! Stands in for `linux.rs` on other systems and under Miri, where nothing is read.

pub(super) fn cpu_model() -> Option<String> {
    None
}

pub(super) use cpu_model as microcode;
pub(super) use cpu_model as tsc_flags;
pub(super) use cpu_model as clocksource;
pub(super) use cpu_model as available_clocksources;
pub(super) use cpu_model as kernel;
pub(super) use cpu_model as kernel_version;
pub(super) use cpu_model as executing;
pub(super) use cpu_model as governor;

pub(super) fn boost() -> Option<bool> {
    None
}

pub(super) use boost as smt;
