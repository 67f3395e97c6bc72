//! A plugin that contains the runtime.

use tsc_runtime::cycles;

#[cycles(name = "plugin")]
#[inline(never)]
fn work(value: u64) -> u64 {
    step(value)
}

#[cycles(light, name = "light in a plugin")]
#[inline(never)]
fn step(value: u64) -> u64 {
    std::hint::black_box(value + 1)
}

/// Makes so many annotated calls.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_work(calls: u64) -> u64 {
    (0..calls).map(work).sum()
}
