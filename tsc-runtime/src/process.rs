//! What the operating system is asked to call: at the end of the process, and in the child of a fork.

#![cfg(feature = "on")]

use crate::calibration;
#[cfg(unix)]
use crate::registry;
use crate::report;

/// Installed with the first callsite's first call; nothing runs before `main`.
pub(crate) fn install() {
    // SAFETY: the handler does not unwind.
    unsafe {
        libc::atexit(report::dump_at_exit);
    }
    calibration::first_reading();
    report::begin();
    #[cfg(unix)]
    // SAFETY: the handler is a function that never unwinds; in the child of a fork only the forking thread exists.
    unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    }
}

#[cfg(unix)]
extern "C" fn in_child() {
    registry::start_from_zero();
}
