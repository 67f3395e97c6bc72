//! Signals that a thread blocks for a while.

use std::mem::MaybeUninit;
use std::ptr;

/// The set of these signals.
pub(crate) fn set_of(signals: &[libc::c_int]) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the set is initialised by the first function that receives it.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for &signal in signals {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

/// The set of all signals.
pub(crate) fn all() -> libc::sigset_t {
    let mut all = set_of(&[]);
    // SAFETY: the set is initialised.
    unsafe { libc::sigfillset(&raw mut all) };
    all
}

/// Runs `f` with these signals blocked, too. Threads that it starts inherit this.
pub(crate) fn with_blocked<T>(signals: &libc::sigset_t, f: impl FnOnce() -> T) -> T {
    let mut before = MaybeUninit::uninit();
    // SAFETY: the set is initialised, and the call initialises `before`.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, signals, before.as_mut_ptr()) };
    let result = f();
    // SAFETY: `before` was initialised above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    result
}
