//! A thread's CPU time between ticks of the clock.
//!
//! # To whom a tick's time goes
//!
//! A tick that finds the thread on the CPU belongs to the function that ran then, which is the innermost one: every entry and every exit is
//! a probe, so nothing else ran since the last one. This function gets all of the thread's CPU time since the last such tick. Ticks come at
//! random, so over many of them each function gets what it used.
//!
//! A tick that finds the thread blocked tells nothing about who used the CPU. If it counted, a function that sleeps for 300 µs after 50 µs
//! of work in other functions would get most of their time. So the CPU time waits for the next ticks. It is divided among several of them,
//! because the time from one tick on the CPU to the next varies much on a thread that is mostly blocked, and so would their weights.
//!
//! A tick that comes while the thread is in the check itself belongs to no function, so the CPU time waits, too. Such ticks are frequent after
//! a block, because the timer that wakes the clock up often wakes the thread up as well.
//!
//! Time off the CPU needs no tick: the first probe after it finds it, and it lies in the innermost function as a whole.

use std::cell::Cell;

use super::PathSums;
use crate::tsc::{Ticks, elapsed};

/// What has passed on a thread between two checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    /// The counter at the check.
    pub(crate) now: Ticks,
    /// Ticks of the counter in which the thread was off the CPU. May be slightly negative, as a difference of two clocks.
    pub(crate) off: i64,
    /// The part of it in which the thread was ready to run.
    pub(crate) waiting: i64,
    /// Whether the part is known.
    pub(crate) is_split: bool,
    /// When the clock has ticked, if it has.
    pub(crate) tick: Option<Ticks>,
}

/// The ticks of the counter in some microseconds, which depend on its rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Microseconds(pub(crate) f64);

impl Microseconds {
    fn ticks(self, microseconds: f64) -> i64 {
        (microseconds * self.0) as i64
    }
}

/// The thread has blocked if it was off the CPU for longer than this without being ready to run, in microseconds: less is the error of the
/// clocks, or a signal.
const BLOCKED: f64 = 3.0;
/// The CPU time that a blocking system call takes itself, in microseconds: going to sleep, waking up, and returning. A tick during this time
/// cannot be distinguished from one in the block. A sleep took 9 to 33 µs of CPU time in virtual machines, the more the busier the host.
const BLOCKING: f64 = 40.0;

/// A tick takes this part of the CPU time that waits.
const PARTS: i64 = 4;

/// So many ticks tell roughly how functions share a thread's time.
const MANY: u64 = 32;

/// After a stretch with more CPU time than this, in microseconds, a tick belongs to the innermost function even if the thread has blocked since.
/// It is three of the longest intervals, unless the user has chosen longer ones, so several ticks found the function on the CPU, and it ran for nearly all of the stretch. Each switch
/// between threads also adds to the error of the clocks, so a long stretch seems to have blocked for a few microseconds.
const LONG: f64 = 12_000.0;

/// The account of a thread.
#[derive(Debug)]
pub(crate) struct Account {
    /// The counter at the last check.
    checked: Cell<Ticks>,
    /// The counter at its end.
    left: Cell<Ticks>,
    /// The CPU time before that which no tick has given to a function.
    pending: Cell<i64>,
    /// The number of the last tick that the thread has noticed.
    noticed: Cell<u64>,
    /// How many ticks the thread has had on the CPU.
    ticks: Cell<u64>,
    is_paused: Cell<bool>,
}

impl Account {
    pub(crate) const fn new() -> Self {
        Self {
            checked: Cell::new(0),
            left: Cell::new(0),
            pending: Cell::new(0),
            noticed: Cell::new(0),
            ticks: Cell::new(0),
            is_paused: Cell::new(false),
        }
    }

    /// Begins at the counter `now` and the clock's tick `number`.
    pub(crate) fn begin(&self, now: Ticks, number: u64) {
        self.checked.set(now);
        self.left.set(now);
        self.pending.set(0);
        self.noticed.set(number);
        self.ticks.set(0);
    }

    /// The same on a simulated thread, which takes nothing that other threads have left behind.
    #[cfg(all(test, not(shuttle)))]
    pub(crate) fn begin_simulated(&self, now: Ticks) {
        self.begin(now, 0);
        self.ticks.set(1);
    }

    /// Whether the tick `number` is new to the thread.
    pub(crate) fn notices(&self, number: u64) -> bool {
        self.noticed.replace(number) != number
    }

    /// Whether time passes that is not recorded. The time in which the thread has noticed a pause, or the end of one, is.
    pub(crate) fn is_paused(&self, paused: bool) -> bool {
        self.is_paused.replace(paused) && paused
    }

    /// Leaves out the time until `now`.
    pub(crate) fn skip(&self, now: Ticks) {
        self.checked.set(now);
    }

    /// What a check adds to the figures of the innermost function.
    pub(crate) fn settle(&self, passed: Passed, microseconds: Microseconds) -> PathSums {
        let Passed {
            now,
            off,
            waiting,
            tick,
            is_split: _,
        } = passed;
        let since = elapsed(self.checked.replace(now), now).max(0);
        let off = off.clamp(0, since);
        let waiting = waiting.clamp(0, off);
        let (on_cpu, pending) = (since - off, self.pending.get());
        let blocked = off - waiting;
        let found_blocked = |at: Ticks| {
            on_cpu < microseconds.ticks(LONG)
                && blocked > microseconds.ticks(BLOCKED)
                && elapsed(at, now) <= off + microseconds.ticks(BLOCKING)
        };
        let mut sums = match tick {
            Some(at) if elapsed(self.left.get(), at) > 0 && !found_blocked(at) => {
                let part = pending / PARTS;
                self.pending.set(pending - part);
                self.ticks.set(self.ticks.get() + 1);
                PathSums::tick(on_cpu + part)
            }
            _ => {
                self.pending.set(pending + on_cpu);
                PathSums::default()
            }
        };
        sums.off = off;
        sums.waiting = waiting;
        sums
    }

    /// Whether no tick of this thread has given away CPU time yet.
    pub(crate) fn is_first_tick(&self) -> bool {
        self.ticks.get() == 0
    }

    /// Notes the end of a check.
    pub(crate) fn leave(&self, now: Ticks) {
        self.left.set(now);
    }

    /// Adds CPU time for the next tick.
    pub(crate) fn add_pending(&self, ticks: i64) {
        self.pending.set(self.pending.get() + ticks);
    }

    /// The CPU time that no tick has given to a function, when the thread ends.
    pub(crate) fn rest(&self) -> i64 {
        self.pending.take()
    }

    /// Whether the thread has had so many ticks that they tell how its functions share its time.
    pub(crate) fn has_ticked_often(&self) -> bool {
        self.ticks.get() >= MANY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: Microseconds = Microseconds(1000.0);

    /// A check after `on` ticks on the CPU and then `blocked` and `waiting` off it. `tick` is how long ago the clock has ticked.
    fn check(
        account: &Account,
        on: i64,
        blocked: i64,
        waiting: i64,
        tick: Option<i64>,
    ) -> PathSums {
        let off = blocked + waiting;
        let now = account.checked.get().wrapping_add_signed(on + off);
        account.settle(
            Passed {
                now,
                off,
                waiting,
                is_split: true,
                tick: tick.map(|ago| now.wrapping_add_signed(-ago)),
            },
            US,
        )
    }

    #[test]
    fn tick_on_the_cpu_takes_all_since_the_last_one() {
        let account = Account::new();
        account.begin(1 << 40, 0);
        assert_eq!(check(&account, 700, 0, 0, Some(3)), PathSums::tick(700));
        assert_eq!(check(&account, 40, 0, 0, Some(3)), PathSums::tick(40));
    }

    #[test]
    fn tick_in_a_block_leaves_the_cpu_time_to_the_next() {
        let account = Account::new();
        account.begin(1 << 40, 0);
        let in_block = check(&account, 50_000, 300_000, 0, Some(100_000));
        assert_eq!(
            (in_block.ticks, in_block.on_cpu, in_block.off),
            (0, 0, 300_000)
        );
        // What waits is divided among the next ticks.
        assert_eq!(
            check(&account, 7_000, 0, 0, Some(10)),
            PathSums::tick(7_000 + 50_000 / 4)
        );
        assert_eq!(account.pending.get(), 37_500);
        // Before the block, the function was on the CPU.
        let before = check(&account, 900_000, 300_000, 0, Some(600_000));
        assert_eq!((before.ticks, before.off), (1, 300_000));
        assert_eq!(before.on_cpu, 900_000 + 37_500 / 4);
    }

    #[test]
    fn thread_that_waits_for_a_cpu_is_at_work() {
        let account = Account::new();
        account.begin(1 << 40, 0);
        let preempted = check(&account, 2_000_000, 0, 4_000_000, Some(3_000_000));
        assert_eq!((preempted.ticks, preempted.on_cpu), (1, 2_000_000));
        assert_eq!((preempted.off, preempted.waiting), (4_000_000, 4_000_000));
        // It has blocked, and then waited to continue.
        let woken = check(&account, 10_000, 300_000, 900_000, Some(800_000));
        assert_eq!((woken.ticks, woken.on_cpu, woken.waiting), (0, 0, 900_000));
    }

    #[test]
    fn long_stretch_is_the_functions_own_whatever_the_clocks_err() {
        let account = Account::new();
        account.begin(1 << 40, 0);
        let long = check(&account, 95_000_000, 8_000, 20_000_000, Some(1_000_000));
        assert_eq!((long.ticks, long.on_cpu), (1, 95_000_000));
    }

    #[test]
    fn errors_of_the_clocks_make_nothing_negative() {
        let account = Account::new();
        account.begin(1 << 40, 0);
        assert_eq!(check(&account, 100, -40, 0, Some(1)).off, 0);
        let sums = check(&account, -50, 80, 0, Some(1));
        assert!(sums.on_cpu >= 0 && sums.off >= 0, "{sums:?}");
    }

    #[test]
    fn time_of_a_pause_is_left_out() {
        let account = Account::new();
        account.begin(1000, 0);
        assert!(!account.is_paused(true) && account.is_paused(true));
        account.skip(5000);
        assert!(!account.is_paused(false));
        assert_eq!(check(&account, 10, 0, 0, Some(1)), PathSums::tick(10));
    }
}
