//! A lock that also works where RDTSC is forbidden.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use core::time::Duration;

use parking_lot::MutexGuard;

/// Whether threads ask for a lock again and again instead of being parked. parking_lot reads `Instant::now` when it parks a thread or wakes
/// it up, and that function executes RDTSC.
static POLLS: AtomicBool = AtomicBool::new(false);
const PAUSE: Duration = Duration::from_micros(100);

/// No thread is parked from now on: to be called before the first lock is taken.
pub(crate) fn never_park() {
    POLLS.store(true, Relaxed);
}

/// parking_lot's.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(parking_lot::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(parking_lot::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        if !POLLS.load(Relaxed) {
            return self.0.lock();
        }
        loop {
            if let Some(guard) = self.poll() {
                return guard;
            }
        }
    }

    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock()
    }

    /// `None` if the lock is not free within this time. The thread is not parked: the first time, that allocates, and a signal handler that has
    /// interrupted the allocator may be the caller.
    pub(crate) fn try_lock_for(&self, time: Duration) -> Option<MutexGuard<'_, T>> {
        (0..time.as_micros() / PAUSE.as_micros()).find_map(|_| self.poll())
    }

    fn poll(&self) -> Option<MutexGuard<'_, T>> {
        let guard = self.0.try_lock();
        if guard.is_none() {
            std::thread::sleep(PAUSE);
        }
        guard
    }
}
