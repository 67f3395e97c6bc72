//! Blocks the signals that a write may raise. They would end a program that did not ask for the write.

#![cfg(all(unix, not(miri)))]

use crate::process::signals::{set_of, with_blocked};

const RAISED: [libc::c_int; 2] = [libc::SIGPIPE, libc::SIGXFSZ];

/// Runs `write` with SIGPIPE and SIGXFSZ blocked. A write that raises one of them returns an error, and the signal is removed.
pub(crate) fn without_write_signals<T>(write: impl FnOnce() -> T) -> T {
    with_blocked(&set_of(&RAISED), || {
        let before = RAISED.map(is_pending);
        let written = write();
        for (signal, was_pending) in RAISED.into_iter().zip(before) {
            if is_pending(signal) && !was_pending {
                take(signal);
            }
        }
        written
    })
}

/// Whether the signal is pending on this thread.
fn is_pending(signal: libc::c_int) -> bool {
    let mut set = std::mem::MaybeUninit::uninit();
    // SAFETY: `sigpending` initialises the set.
    unsafe {
        libc::sigpending(set.as_mut_ptr());
        libc::sigismember(set.as_ptr(), signal) == 1
    }
}

/// Removes a pending signal.
fn take(signal: libc::c_int) {
    let mut taken = 0;
    // SAFETY: the set is initialised. The signal is pending and blocked, so this does not wait.
    unsafe { libc::sigwait(&set_of(&[signal]), &raw mut taken) };
}
