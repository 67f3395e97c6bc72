//! Whether the process does anything. If it does not, the clock of light probes slows down.

use std::time::Duration;

/// The CPU time of a process is known for times as long as this. The kernel adds that of a running thread at its own ticks alone, which are up to
/// 10 ms apart: within a shorter time, a thread in a long function seems to use nothing.
const KNOWN: Duration = Duration::from_millis(20);

/// What the process has done.
#[derive(Debug, Default)]
pub(super) struct Idleness {
    /// How many ticks its threads had noticed at the last look.
    noticed: u64,
    /// The time in which no thread has noticed a tick.
    quiet: Option<Quiet>,
}

#[derive(Debug)]
struct Quiet {
    /// The process's CPU time at the beginning, without that of the clock's own thread.
    others: Duration,
    /// How long it has lasted.
    time: Duration,
    /// Whether the process was idle when its CPU time was last known.
    is_idle: bool,
}

impl Idleness {
    /// Whether no thread has noticed a tick for some time, by now `noticed`, and the process has used less than a tenth of a CPU meanwhile.
    /// It is `interval` since the last look. `others` is the process's CPU time without that of the clock's own thread, if it is known.
    pub(super) fn is_idle(
        &mut self,
        noticed: u64,
        interval: Duration,
        others: impl FnOnce() -> Option<Duration>,
    ) -> bool {
        if std::mem::replace(&mut self.noticed, noticed) != noticed {
            self.quiet = None;
            return false;
        }
        let Some(quiet) = &mut self.quiet else {
            self.quiet = others().map(Quiet::new);
            return false;
        };
        quiet.time += interval;
        if quiet.time >= KNOWN
            && let Some(others) = others()
        {
            let used = others.saturating_sub(quiet.others);
            let is_idle = used < quiet.time / 10;
            *quiet = Quiet {
                is_idle,
                ..Quiet::new(others)
            };
        }
        quiet.is_idle
    }
}

impl Quiet {
    fn new(others: Duration) -> Self {
        Self {
            others,
            time: Duration::ZERO,
            is_idle: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks every 200 µs for so long, at a process whose CPU time the kernel knows as of its last tick. Returns whether it was ever idle.
    fn is_ever_idle(idleness: &mut Idleness, time: Duration, load: f64) -> bool {
        const INTERVAL: Duration = Duration::from_micros(200);
        const KERNEL_TICK: Duration = Duration::from_millis(10);
        let mut is_ever = false;
        for look in 1..=time.as_micros() / INTERVAL.as_micros() {
            let now = INTERVAL * look as u32;
            let known = KERNEL_TICK * (now.as_micros() / KERNEL_TICK.as_micros()) as u32;
            let cpu_time = || Some(known.mul_f64(load));
            is_ever |= idleness.is_idle(0, INTERVAL, cpu_time);
        }
        is_ever
    }

    #[test]
    fn a_thread_in_a_long_function_is_not_idle() {
        let second = Duration::from_secs(1);
        assert!(!is_ever_idle(&mut Idleness::default(), second, 1.0));
        assert!(!is_ever_idle(&mut Idleness::default(), second, 0.3));
    }

    #[test]
    fn a_process_that_uses_nothing_is_idle_until_a_tick_is_noticed() {
        let mut idleness = Idleness::default();
        assert!(!is_ever_idle(&mut idleness, KNOWN, 0.0));
        assert!(is_ever_idle(&mut idleness, KNOWN, 0.0));
        let interval = Duration::from_millis(1);
        let unknown = || None;
        assert!(idleness.is_idle(0, interval, unknown));
        assert!(!idleness.is_idle(1, interval, unknown));
        assert!(!idleness.is_idle(1, interval, unknown));
    }
}
