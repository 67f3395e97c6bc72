//! What calibration has measured so far. It is shared by all threads, and grows with every report.

use parking_lot::Mutex;

use crate::process::PerProcess;
use crate::record::thread;

/// Measurements of this process.
pub(super) struct Measurements<T>(PerProcess<Mutex<T>>);

impl<T: Default> Measurements<T> {
    pub(super) const fn new() -> Self {
        Self(PerProcess::new())
    }

    /// Calls `f` with the measurements. Meanwhile the thread counts as being in the cold path, so that a signal handler does not wait for
    /// the lock that the thread it interrupts holds.
    pub(super) fn with<R>(&'static self, f: impl FnOnce(&mut T) -> R) -> R {
        let busy = thread::this().enter_cold_path();
        let result = f(&mut self.0.get(|| {}).lock());
        drop(busy);
        result
    }

    /// Forgets all measurements, in the child of a fork.
    #[cfg(all(unix, not(miri)))] // no process is forked elsewhere
    pub(super) fn forget(&self) {
        self.0.forget();
    }
}

/// Repeated measurements of one cost.
#[derive(Clone, Copy)]
pub(super) struct Series {
    count: u32,
    sum: f64,
    least: f64,
    greatest: f64,
}

impl Default for Series {
    fn default() -> Self {
        Self {
            count: 0,
            sum: 0.0,
            least: f64::MAX,
            greatest: 0.0,
        }
    }
}

impl Series {
    pub(super) fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
    }

    /// 0 if nothing was measured.
    pub(super) fn mean(&self) -> f64 {
        self.sum / f64::from(self.count.max(1))
    }

    pub(super) fn half_range(&self) -> f64 {
        (self.greatest - self.least).max(0.0) / 2.0
    }
}
