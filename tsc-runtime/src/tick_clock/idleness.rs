//! Whether the process does anything. If it does not, the clock of light probes slows down.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::process::cpu_time;

/// The number of the last tick that a thread has noticed.
static NOTICED: AtomicU64 = AtomicU64::new(0);

/// A thread has noticed the tick of this number.
pub(super) fn note(number: u64) {
    NOTICED.store(number, Relaxed);
}

/// The CPU time of the process, without that of the clock's own thread, at the last look.
#[derive(Debug, Default)]
pub(super) struct Idleness {
    others: Duration,
}

impl Idleness {
    /// Whether no thread has noticed the tick `number`, and the process has used less than a tenth of the CPU for the `interval` since. Only
    /// in the first case the system is asked, so the time may be that of several intervals, which are then not idle.
    pub(super) fn is_idle(&mut self, number: u64, interval: Duration) -> bool {
        if NOTICED.load(Relaxed) == number {
            return false;
        }
        let Some((process, own)) = cpu_time::of_process().zip(cpu_time::of_thread()) else {
            return false;
        };
        let others = process.saturating_sub(own);
        let used = others.saturating_sub(self.others);
        self.others = others;
        used < interval / 10
    }
}
