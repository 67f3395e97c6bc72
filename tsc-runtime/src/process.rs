//! What the operating system is asked to call: at the end of the process, and in the child of a fork.

#![cfg(feature = "on")]

use crate::calibration;
#[cfg(all(unix, not(miri)))]
use crate::registry;
use crate::report;

/// Installed with the first callsite's first call; nothing runs before `main`.
pub(crate) fn install() {
    dump_at_exit();
    calibration::first_reading();
    report::begin();
    #[cfg(all(unix, not(miri)))]
    // SAFETY: the handler is a function that never unwinds; in the child of a fork only the forking thread exists.
    unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    }
}

/// Miri has no `atexit`, and a WebAssembly module outside of WASI has no end: `report()` and `snapshot()` work there all the same.
fn dump_at_exit() {
    #[cfg(not(any(miri, all(target_family = "wasm", target_os = "unknown"))))]
    // SAFETY: the handler does not unwind.
    unsafe {
        libc::atexit(report::dump_at_exit);
    }
}

#[cfg(all(unix, not(miri)))]
extern "C" fn in_child() {
    registry::start_from_zero();
}
