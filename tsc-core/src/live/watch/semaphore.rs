//! The semaphore by which a signal handler wakes a thread.
//!
//! It is not a pipe: a program that closes unknown file descriptors, as daemons do, would make the handler write to whatever file is
//! opened next.

use std::time::Duration;

pub(super) use imp::{begin, post, wait};

#[cfg(not(target_vendor = "apple"))]
mod imp {
    use std::cell::UnsafeCell;
    use std::mem::MaybeUninit;

    use super::Duration;
    use crate::tsc::os_clock::unix_now;

    struct Semaphore(UnsafeCell<MaybeUninit<libc::sem_t>>);

    // SAFETY: a semaphore is made for use by several threads, and it is initialised before there is a second one.
    unsafe impl Sync for Semaphore {}

    static SEMAPHORE: Semaphore = Semaphore(UnsafeCell::new(MaybeUninit::zeroed()));

    fn semaphore() -> *mut libc::sem_t {
        SEMAPHORE.0.get().cast()
    }

    /// Called before the waiting thread is started and before the first signal is caught.
    pub(in super::super) fn begin() {
        // SAFETY: no thread uses it yet; in the child of a fork, no thread uses it any more.
        unsafe { libc::sem_init(semaphore(), 0, 0) };
    }

    /// This may be called in a signal handler.
    pub(in super::super) fn post() {
        // SAFETY: `begin` has initialised it.
        unsafe { libc::sem_post(semaphore()) };
    }

    /// Waits until the next `post`, for at most `time`. It may return earlier.
    pub(in super::super) fn wait(time: Option<Duration>) {
        let Some(time) = time else {
            // SAFETY: `begin` has initialised it.
            unsafe { libc::sem_wait(semaphore()) };
            return;
        };
        // The deadline is in the clock that an administrator may set, so each wait is short.
        let time = time.min(Duration::from_secs(1));
        let now = unix_now();
        if now == 0 {
            // A sandbox refuses to tell the time, and a deadline in 1970 is over.
            std::thread::sleep(time.max(Duration::from_millis(10)));
            // SAFETY: `begin` has initialised it.
            unsafe { libc::sem_trywait(semaphore()) };
            return;
        }
        let until = now + time.as_nanos() as u64;
        let deadline = libc::timespec {
            tv_sec: (until / 1_000_000_000) as _,
            tv_nsec: (until % 1_000_000_000) as _,
        };
        // SAFETY: `begin` has initialised it. The deadline is only read.
        unsafe { libc::sem_timedwait(semaphore(), &raw const deadline) };
    }
}

/// There are no unnamed semaphores here, so the thread checks at short intervals.
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
