//! Whether the process does anything. If it does not, the clock of light probes slows down.

use std::time::Duration;

use crate::process::cpu_time;

/// What the process had done at the last look.
#[derive(Debug, Default)]
pub(super) struct Idleness {
    /// How many ticks its threads had noticed.
    noticed: u64,
    /// Its CPU time in nanoseconds, without that of the clock's own thread.
    others: u64,
}

impl Idleness {
    /// Whether no thread has noticed a tick since the last look, by now `noticed`, and the process has used less than a tenth of the CPU for
    /// the `interval` since. Only in the first case the system is asked, so the time may be that of several intervals, which are then not idle.
    pub(super) fn is_idle(&mut self, noticed: u64, interval: Duration) -> bool {
        if std::mem::replace(&mut self.noticed, noticed) != noticed {
            return false;
        }
        let Some((process, own)) = cpu_time::of_process().zip(cpu_time::of_thread()) else {
            return false;
        };
        let others = process.saturating_sub(own);
        let used = others.saturating_sub(self.others);
        self.others = others;
        Duration::from_nanos(used) < interval / 10
    }
}
