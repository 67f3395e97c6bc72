//! A thread's CPU time between ticks of the clock.
//!
//! # To whom a tick's time goes
//!
//! A tick that finds the thread on the CPU belongs to the function that ran then, which is the innermost one: every entry and every exit is
//! a probe, so nothing else ran since the last one. This function gets all of the thread's CPU time since the last such tick, up to this one:
//! what follows is the next tick's. Ticks come at random, so over many of them each function gets what it used. (What follows until the check
//! is the same function's. If it got that, too, a function as long as the interval would get a quarter too much, and those after it too little.)
//!
//! A tick that finds the thread blocked tells nothing about who used the CPU. If it counted, a function that sleeps for 300 µs after 50 µs
//! of work in other functions would get most of their time. So the CPU time since the last tick waits.
//!
//! The first tick after a block comes early or late, but must weigh as much as any other. If it took the time since the block, what runs first
//! then, as in a game's frame, would get too little, and what follows too much. So this time waits, too, and the tick takes as much as usually lies
//! between two ticks from all that waits. On average that is as much as has begun to wait since the last time.
//!
//! Nor does a tick that finds the thread waiting for a CPU, because where it lost the CPU does not come at random: in a system call that makes
//! the scheduler look, or in a function that wakes another thread up. A tick after the thread got the CPU back counts, also after a block: the
//! kernel clears the thread's word then, which the clock notices. Where it does not, because there is no rseq, or for blocking system calls
//! since Linux 6.19, a tick of a thread that waited counts if the function [usually](Usual) runs for so long between a tick and its next probe.
//!
//! Nor does a tick in a function that may have come in the system call that blocks, which takes some 10 to 40 µs of CPU time in virtual
//! machines. The scheduler and timers bring ticks there more often, or more rarely, than elsewhere. So what such a call takes is divided among
//! the work around it.
//! Outside of all functions, such a tick counts. A runtime for futures blocks there, after all kinds of requests, and if none of these ticks
//! counted, the longest requests, which have ticks of their own, would get the time of the others.
//!
//! A tick that comes while the thread is in the check itself belongs to no function. Such ticks are frequent after a block, because the timer
//! that wakes the clock up often wakes the thread up as well.
//!
//! Time off the CPU needs no tick: the first probe after it finds it, and it lies in the innermost function as a whole.

use std::cell::Cell;

use super::path_sums::PathSums;
use crate::on_cpu::Loss;
use crate::tick_clock::NewTicks;
use crate::tsc::{Ticks, elapsed};

#[cfg(test)]
mod tests;

/// What has passed on a thread between two checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    /// The counter at the check.
    pub(crate) now: Ticks,
    /// What was lost off the CPU.
    pub(crate) loss: Loss,
    /// The ticks of the clock, if there were any.
    pub(crate) ticks: Option<NewTicks>,
    /// Whether the last tick is known to have come after the thread had got the CPU back.
    pub(crate) is_tick_after: bool,
}

/// The thread has blocked if it was off the CPU for longer than this without being ready to run, in microseconds: less is the error of the
/// clocks, or a signal.
const BLOCKED: f64 = 3.0;

/// The first tick after a block takes at least this part of the CPU time that waits, and so does any tick after so many without a block. With few
/// parts, a tick that comes after none did for long has the time of many, so that its row is less certain than the number of its ticks says; with
/// many, time moves from a phase of the program to the next.
const PARTS: i64 = 16;

/// A new time has this part in what is usual.
const WEIGHT: u32 = 8;

/// So many ticks tell roughly how functions share a thread's time.
const MANY: u64 = 32;

/// After a stretch with more CPU time than this, in microseconds, a tick belongs to the innermost function even if the thread has blocked
/// since. It is three of the longest intervals, unless the user has chosen longer ones, so several ticks found the function on the CPU, and it
/// ran for nearly all of the stretch. Each switch between threads also adds to the error of the clocks, so a long stretch seems to have
/// blocked for a few microseconds.
const LONG: f64 = 12_000.0;

/// A blocking system call takes at most this many times the CPU time of a wake-up of the clock's thread. With 1.25, a function that only sleeps
/// had 12 to 14 % of the work's CPU time beside four busy threads and other builds, with 1.5 it has 4 to 9 %, and without the builds under 1 %
/// (`overhead --bin light` of the studies, EPYC, Zen 4).
const BLOCKING: f64 = 1.5;

/// Lengths of time in ticks of the counter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths {
    us: f64,
    /// The CPU time that a blocking system call takes itself: going to sleep, waking up, and returning. The clock, if it takes the CPU from the
    /// thread, ticks within the same time.
    blocking: f64,
    /// From one tick to the next, lately. 0 if that is not known.
    interval: i64,
}

impl Lengths {
    pub(crate) fn new(us: f64, wake_up_us: f64, interval: i64) -> Self {
        Self {
            us,
            blocking: BLOCKING * wake_up_us * us,
            interval,
        }
    }
}

/// The time between two checks, the later one of which finds a tick.
struct Stretch {
    now: Ticks,
    on_cpu: i64,
    off: i64,
    has_blocked: bool,
    is_tick_after: bool,
    lengths: Lengths,
}

impl Stretch {
    /// If some of the ticks found the thread on the CPU, how long it was on the CPU after the last of them.
    fn after_tick(&self, ticks: NewTicks, usual: &Usual, is_outside: bool) -> Option<i64> {
        let [first, last] = [ticks.first, ticks.last].map(|at| elapsed(at, self.now));
        if self.is_tick_after {
            usual.add(last);
            return Some(last.clamp(0, self.on_cpu));
        }
        let slack = self.lengths.blocking as i64;
        let least = match self.has_blocked {
            true if is_outside => 1,
            true => slack + 1,
            false => -slack,
        };
        // It was on the CPU for so long after the first tick, or that was off the CPU.
        let certain = first - self.off;
        let after = if certain >= least {
            usual.add(certain);
            if last < self.off {
                last.min(certain)
            } else {
                last - self.off
            }
        } else if !self.has_blocked && usual.is_as_long_as(last)
            || self.on_cpu >= (LONG * self.lengths.us) as i64
        {
            last
        } else {
            return None;
        };
        Some(after.clamp(0, self.on_cpu))
    }
}

/// How long a function usually runs between a tick and its next probe.
#[derive(Debug, Default)]
pub(crate) struct Usual {
    /// The mean of the last few times, plus 1; 0 if nothing is known.
    mean: Cell<u32>,
}

impl Usual {
    fn add(&self, ticks: i64) {
        let new = u32::try_from(ticks.max(0)).unwrap_or(u32::MAX - 1);
        let mean = match self.mean.get().checked_sub(1) {
            Some(mean) => mean - mean / WEIGHT + new / WEIGHT,
            None => new,
        };
        self.mean.set(mean.saturating_add(1));
    }

    /// Whether it is at least so long, as far as is known.
    fn is_as_long_as(&self, ticks: i64) -> bool {
        let mean = self.mean.get();
        mean == 0 || ticks < i64::from(mean)
    }
}

/// The account of a thread.
#[derive(Debug)]
pub(crate) struct Account {
    /// The counter at the last check.
    checked: Cell<Ticks>,
    /// The counter at its end.
    left: Cell<Ticks>,
    /// The CPU time since the last tick.
    since_tick: Cell<i64>,
    /// The CPU time before that which no tick has given to a function.
    pending: Cell<i64>,
    /// The number of the last tick that the thread has noticed.
    noticed: Cell<u64>,
    /// How many ticks the thread has had on the CPU.
    ticks: Cell<u64>,
    /// The same since it has blocked.
    since_block: Cell<u64>,
    is_paused: Cell<bool>,
}

/// The CPU time of a thread that no tick has given to a function.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rest {
    /// Since the last tick.
    pub(crate) since_tick: i64,
    /// Before that.
    pub(crate) pending: i64,
}

impl Account {
    pub(crate) const fn new() -> Self {
        Self {
            checked: Cell::new(0),
            left: Cell::new(0),
            since_tick: Cell::new(0),
            pending: Cell::new(0),
            noticed: Cell::new(0),
            ticks: Cell::new(0),
            since_block: Cell::new(0),
            is_paused: Cell::new(false),
        }
    }

    /// Begins at the counter `now` and the clock's tick `number`.
    pub(crate) fn begin(&self, now: Ticks, number: u64) {
        self.checked.set(now);
        self.left.set(now);
        self.since_tick.set(0);
        self.pending.set(0);
        self.noticed.set(number);
        self.ticks.set(0);
        // It goes on where other threads have ended.
        self.since_block.set(1);
    }

    /// The thread notices the tick `number`. Returns the number of the one that it has noticed before.
    pub(crate) fn notice(&self, number: u64) -> u64 {
        self.noticed.replace(number)
    }

    /// The counter at the last check.
    pub(crate) fn checked(&self) -> Ticks {
        self.checked.get()
    }

    /// Whether time passes that is not recorded. The time in which the thread has noticed a pause, or the end of one, is.
    pub(crate) fn is_paused(&self, paused: bool) -> bool {
        self.is_paused.replace(paused) && paused
    }

    /// Leaves out the time until `now`.
    pub(crate) fn skip(&self, now: Ticks) {
        self.checked.set(now);
    }

    /// Leaves out `ticks` on the CPU since the last check.
    pub(crate) fn leave_out(&self, ticks: i64) {
        self.checked.update(|at| at.wrapping_add_signed(ticks));
    }

    /// What a check adds to the figures of the innermost function. `usual` is what is known of this one.
    ///
    /// The thread's first tick that counts takes over what other threads have left behind: all of their time since their last ticks, as if the
    /// threads were one. If later ticks shared it, functions that run late on short-lived threads would get more than they used, because
    /// their first ticks come late.
    pub(crate) fn settle(
        &self,
        passed: Passed,
        lengths: Lengths,
        usual: &Usual,
        is_outside: bool,
        left_behind: impl FnOnce() -> Rest,
    ) -> PathSums {
        let since = elapsed(self.checked.replace(passed.now), passed.now).max(0);
        let off = passed.loss.off.clamp(0, since);
        let waiting = passed.loss.waiting.clamp(0, off);
        let stretch = Stretch {
            now: passed.now,
            on_cpu: since - off,
            off,
            has_blocked: off - waiting > (BLOCKED * lengths.us) as i64,
            is_tick_after: passed.is_tick_after,
            lengths,
        };
        let time = self.since_tick.take() + stretch.on_cpu;
        let mut sums = PathSums::default();
        if let Some(ticks) = passed.ticks
            && let Some(after) = stretch.after_tick(ticks, usual, is_outside)
            && elapsed(self.left.get(), ticks.last) > 0
        {
            let left = (self.ticks.get() == 0).then(left_behind);
            let left = left.unwrap_or_default();
            self.add_pending(left.pending);
            // Between the first and the last of several ticks nothing else ran.
            let first = ticks.about_first(passed.now.wrapping_add_signed(-since));
            let certain = elapsed(first, ticks.last) - off;
            let before = (time + left.since_tick - after).max(0);
            let is_after_block = stretch.has_blocked && stretch.is_tick_after;
            let since_block = match is_after_block {
                true => 0,
                false => self.since_block.get(),
            };
            let on_cpu = self.weigh(before, certain, since_block, lengths.interval);
            sums = PathSums::tick(on_cpu, certain);
            self.ticks.update(|ticks| ticks + 1);
            if stretch.has_blocked && !is_after_block {
                self.begin_to_wait(after);
            } else {
                self.since_tick.set(after);
                self.since_block.set(since_block + 1);
            }
        } else if stretch.has_blocked {
            self.begin_to_wait(time);
        } else {
            self.since_tick.set(time);
        }
        sums.off = off;
        sums.waiting = waiting;
        sums
    }

    /// The CPU time of a tick, if so much lies between it and the one `before`, and a part of that is certainly the function's.
    fn weigh(&self, before: i64, certain: i64, since_block: u64, interval: i64) -> i64 {
        match since_block {
            _ if self.ticks.get() == 0 => before + self.take_pending(0),
            0 => {
                let certain = certain.clamp(0, before);
                self.add_pending(before - certain);
                certain + self.take_pending(interval)
            }
            ticks if ticks > PARTS.unsigned_abs() => before + self.take_pending(0),
            _ => before,
        }
    }

    /// Notes the end of a check.
    pub(crate) fn leave(&self, now: Ticks) {
        self.left.set(now);
    }

    /// The thread has blocked. The CPU time since its last tick waits.
    fn begin_to_wait(&self, since_tick: i64) {
        self.add_pending(since_tick);
        self.since_block.set(0);
    }

    /// Adds CPU time that waits for a tick.
    pub(crate) fn add_pending(&self, ticks: i64) {
        self.pending.update(|pending| pending + ticks);
    }

    /// Takes so much of what waits, or a tick's part if that is more.
    fn take_pending(&self, most: i64) -> i64 {
        let pending = self.pending.get();
        let part = pending.min(most).max(pending / PARTS);
        self.add_pending(-part);
        part
    }

    /// The CPU time that no tick has given to a function, when the thread ends.
    pub(crate) fn rest(&self) -> Rest {
        Rest {
            since_tick: self.since_tick.take(),
            pending: self.pending.take(),
        }
    }

    /// Whether the thread has had so many ticks that they tell how its functions share its time.
    pub(crate) fn has_ticked_often(&self) -> bool {
        self.ticks.get() >= MANY
    }
}
