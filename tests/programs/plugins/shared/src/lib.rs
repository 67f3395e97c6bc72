//! A plugin that uses the runtime of the program that opens it.

use shared_runtime::cycles;

#[cycles(crate = shared_runtime, name = "plugin")]
#[inline(never)]
fn work(value: u64) -> u64 {
    std::hint::black_box(value + 1)
}

/// Makes so many annotated calls.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_work(calls: u64) -> u64 {
    (0..calls).map(work).sum()
}
