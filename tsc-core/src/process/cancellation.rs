//! Keeps `pthread_cancel` from ending a thread inside the runtime's own work.
//!
//! A cancelled thread ends at its next call of certain functions of the C library, such as `open` and `pread`, by unwinding. A C program may
//! cancel threads whose annotated functions call none of these; but the runtime does, and its work must not be left halfway.

use std::ffi::c_int;

/// While this exists, the calling thread is not cancelled, but at the next chance afterwards. This may be used in a signal handler.
#[derive(Debug)]
pub(crate) struct NotCancelled(c_int);

impl NotCancelled {
    #[inline]
    pub(crate) fn begin() -> Self {
        const DISABLE: c_int = 1;
        Self(set(DISABLE))
    }
}

impl Drop for NotCancelled {
    #[inline]
    fn drop(&mut self) {
        set(self.0);
    }
}

/// Sets the calling thread's state, and returns the one before.
#[cfg(all(
    target_os = "linux",
    any(target_env = "gnu", target_env = "musl"),
    not(miri)
))]
fn set(state: c_int) -> c_int {
    unsafe extern "C" {
        fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
    }
    let mut before = state;
    // SAFETY: a state that both C libraries know, and a place for the one before.
    unsafe { pthread_setcancelstate(state, &raw mut before) };
    before
}

/// Elsewhere threads are cancelled as the system does it, if it can.
#[cfg(not(all(
    target_os = "linux",
    any(target_env = "gnu", target_env = "musl"),
    not(miri)
)))]
fn set(state: c_int) -> c_int {
    state
}
