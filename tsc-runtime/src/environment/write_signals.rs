//! Blocks the signals that a write may raise. They would end a program that did not ask for the write.

/// Runs `write` with SIGPIPE and SIGXFSZ blocked. A write that raises one of them returns an error, and the signal is removed.
#[cfg(all(unix, not(miri)))]
pub(crate) fn without_write_signals<T>(write: impl FnOnce() -> T) -> T {
    use std::mem::MaybeUninit;
    let mut blocked = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: each set is initialised by the first function that receives it.
    let pending_before = unsafe {
        libc::sigemptyset(blocked.as_mut_ptr());
        libc::sigaddset(blocked.as_mut_ptr(), libc::SIGPIPE);
        libc::sigaddset(blocked.as_mut_ptr(), libc::SIGXFSZ);
        libc::pthread_sigmask(libc::SIG_BLOCK, blocked.as_ptr(), before.as_mut_ptr());
        pending()
    };
    let written = write();
    for (signal, was_pending) in pending().into_iter().zip(pending_before) {
        if signal.1 && !was_pending.1 {
            take(signal.0);
        }
    }
    // SAFETY: `before` was initialised above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    written
}

/// Whether each of the two signals is pending on this thread.
#[cfg(all(unix, not(miri)))]
fn pending() -> [(i32, bool); 2] {
    let mut set = std::mem::MaybeUninit::uninit();
    // SAFETY: `sigpending` initialises the set.
    unsafe {
        libc::sigpending(set.as_mut_ptr());
        [libc::SIGPIPE, libc::SIGXFSZ]
            .map(|signal| (signal, libc::sigismember(set.as_ptr(), signal) == 1))
    }
}

/// Removes a pending signal.
#[cfg(all(unix, not(miri)))]
fn take(signal: i32) {
    let mut set = std::mem::MaybeUninit::uninit();
    let mut taken = 0;
    // SAFETY: the set is initialised here. The signal is pending and blocked, so this does not wait.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), signal);
        libc::sigwait(set.as_ptr(), &raw mut taken);
    }
}

/// These signals do not exist here.
#[cfg(not(all(unix, not(miri))))]
pub(crate) fn without_write_signals<T>(write: impl FnOnce() -> T) -> T {
    write()
}
