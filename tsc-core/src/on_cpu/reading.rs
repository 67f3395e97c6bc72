//! The kernel's figures about a thread at one moment, and what the thread lost between two such moments.

use super::losses::Loss;
use crate::tsc::{Ticks, elapsed};

/// Two clocks that are read one after the other differ by less.
const CLOCKS_NS: u64 = 50_000;
/// A counter that is behind by more was set back, as while a machine is suspended. Nobody has run for so long between two readings.
const STEP_NS: u64 = 1_000_000_000;

/// The kernel's figures at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The counter when the CPU time was read.
    pub(crate) at: Ticks,
    /// The time that the thread has run so far.
    pub(crate) cpu_ns: u64,
    /// Those that were read last. `None` if `/proc/thread-self/schedstat` cannot be read.
    pub(crate) statistics: Option<Statistics>,
}

/// The contents of `/proc/thread-self/schedstat`, since the thread began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Statistics {
    /// The time run, up to the scheduler's last update.
    pub(crate) ran_ns: u64,
    /// The time in which the thread was ready while another one ran.
    pub(crate) waited_ns: u64,
    /// How often it was given a CPU.
    pub(crate) runs: u64,
}

/// Ticks of the kernel's figures that are not part of any loss yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left {
    /// Ticks that the thread has waited. The statistics are read after the CPU time, and the thread may have waited in between. They are
    /// also read less often.
    waiting: i64,
    /// Switches that losses have counted since the statistics were read.
    switches: u64,
    /// Zero or less: the thread seemed to have run for longer than the time that has passed, because two clocks cannot be read at once.
    off: i64,
}

impl Left {
    pub(super) const NOTHING: Self = Self {
        waiting: 0,
        switches: 0,
        off: 0,
    };
}

impl Reading {
    /// The loss between this reading and a later one. It is never negative. Whether the thread has waited is not known without statistics.
    pub(super) fn loss_until(&self, later: &Self, ticks_per_ns: f64, left: &mut Left) -> Loss {
        let ticks = |ns: u64| (ns as f64 * ticks_per_ns) as i64;
        // The clock goes backwards only in the child of a fork, which discards the parent's readings.
        let ran = ticks(later.cpu_ns.saturating_sub(self.cpu_ns));
        let mut off = elapsed(self.at, later.at).wrapping_sub(ran) + left.off;
        let statistics = self.statistics.zip(later.statistics);
        let mut waited = left.waiting;
        let mut switches = 1;
        match statistics {
            Some((before, now)) if before.ran_ns != now.ran_ns => {
                waited += ticks(now.waited_ns.saturating_sub(before.waited_ns));
                let runs = now.runs.saturating_sub(before.runs);
                if runs == 0 && waited == 0 {
                    // A signal. The thread has not left the CPU, so this is the error of the clocks, or what a hypervisor has taken.
                    off = if off < ticks(CLOCKS_NS) { 0 } else { off };
                    waited = off;
                }
                switches = runs.saturating_sub(left.switches).max(1);
                left.switches = 0;
            }
            // The statistics were not read again.
            _ => left.switches += 1,
        }
        left.off = if off < -ticks(STEP_NS) { 0 } else { off.min(0) };
        off = off.max(0);
        let waiting = waited.min(off);
        left.waiting = waited - waiting;
        Loss {
            off,
            waiting,
            is_split: statistics.is_some(),
            switches: u32::try_from(switches).unwrap_or(u32::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn reading(at: Ticks, cpu_ns: u64, waited_ns: u64, runs: u64) -> Reading {
        Reading {
            at,
            cpu_ns,
            statistics: Some(Statistics {
                ran_ns: cpu_ns,
                waited_ns,
                runs,
            }),
        }
    }

    #[test]
    fn what_was_not_run_was_lost() {
        let (before, mut left) = (reading(1_000, 500, 10, 3), Left::NOTHING);
        let loss = before.loss_until(&reading(9_000, 1_500, 1_010, 5), 2.0, &mut left);
        assert_eq!(
            loss,
            Loss {
                off: 8_000 - 2_000,
                waiting: 2_000,
                is_split: true,
                switches: 2
            }
        );
        assert_eq!(left, Left::NOTHING);
    }

    #[test]
    fn nobody_waits_for_longer_than_was_lost() {
        let mut left = Left::NOTHING;
        let loss = reading(0, 0, 0, 0).loss_until(&reading(100, 90, 40, 1), 1.0, &mut left);
        assert_eq!((loss.off, loss.waiting, left.waiting), (10, 10, 30));
        // It was between the two readings, so it is in the next loss.
        let loss = reading(100, 90, 40, 1).loss_until(&reading(200, 140, 45, 2), 1.0, &mut left);
        assert_eq!((loss.off, loss.waiting), (50, 35));
        assert_eq!(left, Left::NOTHING);
    }

    #[test]
    fn nobody_loses_anything_by_a_signal() {
        for ran in [97, 100, 103] {
            let mut left = Left::NOTHING;
            let loss = reading(0, 0, 0, 7).loss_until(&reading(100, ran, 0, 7), 1.0, &mut left);
            assert_eq!((loss.off, loss.waiting, loss.switches), (0, 0, 1));
            assert_eq!(left, Left::NOTHING);
        }
    }

    #[test]
    fn who_has_not_left_the_cpu_has_waited_for_a_hypervisor() {
        let mut left = Left::NOTHING;
        let loss = reading(0, 0, 0, 7).loss_until(&reading(90_000, 10_000, 0, 7), 1.0, &mut left);
        assert_eq!((loss.off, loss.waiting), (80_000, 80_000));
        assert_eq!(left, Left::NOTHING);
    }

    #[test]
    fn nobody_loses_less_than_nothing() {
        let mut left = Left::NOTHING;
        let loss = reading(0, 0, 0, 7).loss_until(&reading(100, 103, 0, 8), 1.0, &mut left);
        assert_eq!((loss.off, loss.waiting), (0, 0));
        // The sum is that of the clocks.
        let loss = reading(100, 103, 0, 8).loss_until(&reading(200, 151, 0, 9), 1.0, &mut left);
        assert_eq!(loss.off, 49);
        assert_eq!(left, Left::NOTHING);
    }

    #[test]
    fn a_counter_that_is_set_back_hides_nothing_that_is_lost_later() {
        let ago = reading(1_u64 << 50, 500, 0, 0);
        let (before, later) = (reading(7, 600, 0, 1), reading(9_000, 1_500, 0, 2));
        let mut left = Left::NOTHING;
        assert_eq!(ago.loss_until(&before, 1.0, &mut left).off, 0);
        assert_eq!(before.loss_until(&later, 1.0, &mut left).off, 8_993 - 900);
    }

    #[test]
    fn what_statistics_say_late_is_divided_among_the_losses_that_follow() {
        let (old, mut left) = (reading(0, 0, 0, 0), Left::NOTHING);
        let at = |at, cpu_ns| Reading { at, cpu_ns, ..old };
        let (first, second) = (at(100, 60), at(200, 120));
        let loss = old.loss_until(&first, 1.0, &mut left);
        assert_eq!((loss.off, loss.waiting, loss.switches), (40, 0, 1));
        // In both intervals the thread has waited for 30 ticks.
        let loss = first.loss_until(&reading(200, 120, 60, 2), 1.0, &mut left);
        assert_eq!((loss.off, loss.waiting, loss.switches), (40, 40, 1));
        let loss = reading(200, 120, 60, 2).loss_until(&second, 1.0, &mut left);
        assert_eq!((loss.off, loss.waiting), (0, 0));
        let loss = second.loss_until(&at(300, 180), 1.0, &mut left);
        assert_eq!((loss.off, loss.waiting), (40, 20));
    }

    #[test]
    fn without_statistics_nobody_knows_who_ran() {
        let later = Reading {
            statistics: None,
            ..reading(500, 100, 0, 0)
        };
        let mut left = Left::NOTHING;
        let loss = reading(0, 0, 0, 0).loss_until(&later, 1.0, &mut left);
        assert_eq!((loss.off, loss.is_split, loss.switches), (400, false, 1));
    }
}
