//! What a signal handler may wake a thread with.
//!
//! A semaphore and no pipe: a program that closes descriptors it does not know, as daemons do, would have the handler write to
//! whatever it opens next.

use std::time::Duration;

pub(super) use imp::{begin, post, wait};

#[cfg(not(target_vendor = "apple"))]
mod imp {
    use std::cell::UnsafeCell;
    use std::mem::MaybeUninit;

    use super::Duration;

    struct Semaphore(UnsafeCell<MaybeUninit<libc::sem_t>>);

    // SAFETY: it is made for use by several threads, and initialised before there is a second.
    unsafe impl Sync for Semaphore {}

    static SEMAPHORE: Semaphore = Semaphore(UnsafeCell::new(MaybeUninit::zeroed()));

    fn semaphore() -> *mut libc::sem_t {
        SEMAPHORE.0.get().cast()
    }

    /// Before the thread that waits, and before the first signal is caught.
    pub(in super::super) fn begin() {
        // SAFETY: nobody uses it yet, or not any more in the child of a fork.
        unsafe { libc::sem_init(semaphore(), 0, 0) };
    }

    /// May be called in a signal handler.
    pub(in super::super) fn post() {
        // SAFETY: initialised by `begin`.
        unsafe { libc::sem_post(semaphore()) };
    }

    /// Until the next `post`, for so long at most; it may be less.
    pub(in super::super) fn wait(time: Option<Duration>) {
        let Some(time) = time else {
            // SAFETY: initialised by `begin`.
            unsafe { libc::sem_wait(semaphore()) };
            return;
        };
        // By the clock that may be set: so not for long at once.
        let until =
            crate::tsc::os_clock::unix_now() + time.min(Duration::from_secs(1)).as_nanos() as u64;
        let mut deadline: libc::timespec = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        deadline.tv_sec = (until / 1_000_000_000) as _;
        deadline.tv_nsec = (until % 1_000_000_000) as _;
        // SAFETY: initialised by `begin`; the deadline is read only.
        unsafe { libc::sem_timedwait(semaphore(), &raw const deadline) };
    }
}

/// There are no unnamed semaphores, so it is looked for now and then.
#[cfg(target_vendor = "apple")]
mod imp {
    use super::Duration;

    pub(in super::super) fn begin() {}

    pub(in super::super) fn post() {}

    pub(in super::super) fn wait(time: Option<Duration>) {
        const LOOK: Duration = Duration::from_millis(50);
        std::thread::sleep(time.map_or(LOOK, |time| time.min(LOOK)));
    }
}
