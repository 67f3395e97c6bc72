//! The clock of light probes: a thread that advances one number, the epoch, at random intervals.
//!
//! A light probe looks at a word of its own thread, and at nothing else. Each tick changes the words of all threads that have light probes, so
//! that the next probe of each takes the cold path, which finds out what has happened, and arms the word again. The word is the one that the
//! kernel clears when the thread leaves its CPU (see the [detector](crate::interruption)), so a probe notices both by the same comparison.

#![cfg(measuring)]

use crate::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use crate::tsc::{Ticks, elapsed};

#[cfg(test)]
pub(crate) mod script;
#[cfg(all(not(miri), not(target_family = "wasm"), not(shuttle)))]
mod thread;
#[cfg(any(miri, target_family = "wasm", shuttle))]
#[path = "absent.rs"]
mod thread;
mod words;

#[cfg(test)]
pub(crate) use script::{epoch, is_measurement_due, wake_up_us};
#[cfg(all(unix, not(miri)))] // no process is forked elsewhere
pub(crate) use thread::start_from_zero;
pub(crate) use thread::{begin, begin_anew, note_given, note_noticed, so_far, unavailable};
#[cfg(not(test))]
pub(crate) use thread::{is_measurement_due, wake_up_us};
use words::Words;
pub(crate) use words::make_stale;

/// What the clock advances.
#[derive(Debug)]
pub(crate) struct Epoch {
    /// Those of the threads that follow this clock.
    pub(crate) words: Words,
    /// The number of ticks so far.
    number: AtomicU64,
    /// When the last ticks were, each by its number.
    at: [AtomicU64; KEPT],
}

/// So many ticks are known.
const KEPT: usize = 64;
/// So many intervals tell their mean.
const LATELY: u64 = 16;

/// That of the clock.
pub(crate) static EPOCH: Epoch = Epoch::new();

/// The one that this thread follows.
#[cfg(not(test))]
pub(crate) fn epoch() -> &'static Epoch {
    &EPOCH
}

/// Ticks that a thread has not noticed before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NewTicks {
    /// So many came before `first`, at times that are no longer known.
    pub(crate) forgotten: u64,
    /// When the first one was, or the first one that is still known.
    pub(crate) first: Ticks,
    pub(crate) last: Ticks,
}

impl NewTicks {
    /// When the first one was, forgotten or not, if all came after the counter `begin`: forgotten ones at even intervals.
    pub(crate) fn about_first(&self, begin: Ticks) -> Ticks {
        let before = elapsed(begin, self.first).max(0).unsigned_abs();
        let interval = before / self.forgotten.saturating_add(1);
        self.first.wrapping_sub(before - interval)
    }
}

impl Epoch {
    pub(crate) const fn new() -> Self {
        Self {
            words: Words::new(),
            number: AtomicU64::new(0),
            at: [const { AtomicU64::new(0) }; KEPT],
        }
    }

    /// The number of the last tick.
    pub(crate) fn last(&self) -> u64 {
        self.number.load(Acquire)
    }

    /// The ticks after number `noticed`, up to `last`, if there are any.
    pub(crate) fn since(&self, noticed: u64, last: u64) -> Option<NewTicks> {
        let count = last.wrapping_sub(noticed);
        let known = count.min(KEPT as u64);
        let oldest = known.checked_sub(1)?;
        Some(NewTicks {
            forgotten: count - known,
            first: self.at(last.wrapping_sub(oldest)),
            last: self.at(last),
        })
    }

    /// The mean time between the last few ticks, up to number `last`. 0 if there were not so many.
    pub(crate) fn interval(&self, last: u64) -> i64 {
        if last <= LATELY {
            return 0;
        }
        elapsed(self.at(last - LATELY), self.at(last)).max(0) / LATELY as i64
    }

    /// When the tick with this number was, if it is one of the last.
    fn at(&self, number: u64) -> Ticks {
        self.at[number as usize % KEPT].load(Relaxed)
    }

    /// The clock ticks at the time `now`. Only one thread calls this.
    #[cfg_attr(any(miri, target_family = "wasm", shuttle), allow(dead_code))]
    pub(crate) fn advance(&'static self, now: Ticks) {
        let number = self.number.load(Relaxed).wrapping_add(1);
        self.at[number as usize % KEPT].store(now, Relaxed);
        self.number.store(number, Release);
        self.words.make_stale_by_tick();
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn ticks_that_are_no_longer_known_are_counted() {
        static EPOCH: Epoch = Epoch::new();
        for number in 1..=3 * KEPT as u64 {
            EPOCH.advance(1_000 * number);
            let is_known = number > LATELY;
            let expected = if is_known { 1_000 } else { 0 };
            assert_eq!(EPOCH.interval(number), expected, "{number}");
        }
        let last = EPOCH.last();
        assert_eq!(EPOCH.since(last, last), None);
        let few = EPOCH.since(last - 2, last).unwrap();
        let (before, latest) = (1_000 * (last - 1), 1_000 * last);
        assert_eq!((few.forgotten, few.first, few.last), (0, before, latest));
        assert_eq!(few.about_first(0), few.first);
        let all = EPOCH.since(0, last).unwrap();
        assert_eq!(all.forgotten, 2 * KEPT as u64);
        assert_eq!(all.first, 1_000 * (2 * KEPT as u64 + 1));
        // A tick at each thousand after the beginning.
        assert_eq!(all.about_first(0), 1_000);
    }
}
