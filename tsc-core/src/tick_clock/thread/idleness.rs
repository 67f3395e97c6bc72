//! Whether the process does anything. If it does not, the clock of light probes slows down.

use std::time::Duration;

use super::system;

/// What the process had done at the last look.
#[derive(Debug, Default)]
pub(super) struct Idleness {
    /// How many ticks its threads had noticed.
    noticed: u64,
    /// Its CPU time, without that of the clock's own thread.
    others: Duration,
}

impl Idleness {
    /// Whether no thread has noticed a tick since the last look, by now `noticed`, and the process has used less than a tenth of the CPU for
    /// the `interval` since. Only in the first case the system is asked, so the time may be that of several intervals, which are then not idle.
    pub(super) fn is_idle(&mut self, noticed: u64, interval: Duration) -> bool {
        if std::mem::replace(&mut self.noticed, noticed) != noticed {
            return false;
        }
        let Some((process, own)) = system::cpu_time_of_process().zip(system::own_cpu_time()) else {
            return false;
        };
        let others = process.saturating_sub(own);
        let used = others.saturating_sub(self.others);
        self.others = others;
        used < interval / 10
    }
}
