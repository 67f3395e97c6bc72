//! The kernel's figures about a thread at one moment, and what the thread lost between two such moments.

use super::losses::Loss;
use crate::tsc::{Ticks, elapsed};

/// The kernel's figures at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The counter when the CPU time was read.
    pub(crate) at: Ticks,
    /// The time that the thread has run so far.
    pub(crate) cpu_ns: u64,
    /// `None` if `/proc/thread-self/schedstat` cannot be read.
    pub(crate) schedule: Option<Schedule>,
}

/// The contents of `/proc/thread-self/schedstat`, since the thread began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    /// The time run, up to the scheduler's last update.
    pub(crate) ran_ns: u64,
    /// The time in which the thread was ready while another one ran.
    pub(crate) waited_ns: u64,
    /// How often it was given a CPU.
    pub(crate) runs: u64,
}

impl Reading {
    /// The loss between this reading and a later one. The statistics are read after the CPU time, and the thread may have waited in
    /// between. That wait belongs to the next loss, and is kept in `early` until then.
    pub(super) fn loss_until(&self, later: &Self, ticks_per_ns: f64, early: &mut i64) -> Loss {
        let ticks = |ns: u64| (ns as f64 * ticks_per_ns) as i64;
        // The clock goes backwards only in the child of a fork, which discards the parent's readings.
        let ran = ticks(later.cpu_ns.saturating_sub(self.cpu_ns));
        let off = elapsed(self.at, later.at).wrapping_sub(ran);
        let schedule = self.schedule.zip(later.schedule);
        let (waiting, runs) = schedule.map_or((0, 0), |(before, now)| {
            let waited = ticks(now.waited_ns.saturating_sub(before.waited_ns)) + *early;
            let waiting = waited.clamp(0, off.max(0));
            *early = waited - waiting;
            (waiting, now.runs.saturating_sub(before.runs))
        });
        Loss {
            off,
            waiting,
            is_split: schedule.is_some(),
            switches: u32::try_from(runs).unwrap_or(u32::MAX).max(1),
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
            schedule: Some(Schedule {
                ran_ns: cpu_ns,
                waited_ns,
                runs,
            }),
        }
    }

    #[test]
    fn what_was_not_run_was_lost() {
        let before = reading(1_000, 500, 10, 3);
        let loss = before.loss_until(&reading(9_000, 1_500, 1_010, 5), 2.0, &mut 0);
        assert_eq!(
            loss,
            Loss {
                off: 8_000 - 2_000,
                waiting: 2_000,
                is_split: true,
                switches: 2
            }
        );
    }

    #[test]
    fn nobody_waits_for_longer_than_was_lost() {
        let mut early = 0;
        let loss = reading(0, 0, 0, 0).loss_until(&reading(100, 90, 40, 1), 1.0, &mut early);
        assert_eq!((loss.off, loss.waiting, early), (10, 10, 30));
        // It was between the two readings, so it is in the next loss.
        let loss = reading(100, 90, 40, 1).loss_until(&reading(200, 140, 45, 2), 1.0, &mut early);
        assert_eq!((loss.off, loss.waiting, early), (50, 35, 0));
        // A signal: the clocks' own error, and no switch.
        let loss = reading(0, 0, 0, 7).loss_until(&reading(100, 103, 1, 7), 1.0, &mut 0);
        assert_eq!((loss.off, loss.waiting, loss.switches), (-3, 0, 1));
    }

    #[test]
    fn without_a_schedule_nobody_knows_who_ran() {
        let later = Reading {
            schedule: None,
            ..reading(500, 100, 0, 0)
        };
        let loss = reading(0, 0, 0, 0).loss_until(&later, 1.0, &mut 0);
        assert_eq!((loss.off, loss.is_split, loss.switches), (400, false, 1));
    }
}
