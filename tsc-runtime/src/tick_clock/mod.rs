//! The clock of light probes: a thread that advances one number, the epoch, at random intervals.
//!
//! A light probe compares the epoch with a word of its own thread. If they are equal, nothing has happened since the last check. If they
//! are not, the probe takes the cold path, which finds out what happened, and makes them equal again.
//!
//! The epoch is the address of a descriptor of the [detector](crate::interruption), and the word is the one that the kernel clears when the
//! thread leaves its CPU. So the same comparison notices both: that the clock has ticked, and that the thread was off the CPU.

#![cfg(measuring)]

use std::time::Duration;

use crate::interruption::{DESCRIPTORS, Descriptor};
use crate::sync::atomic::{
    AtomicPtr, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use crate::tsc::Ticks;

#[cfg(all(not(miri), not(target_family = "wasm"), not(shuttle)))]
mod idleness;
#[cfg_attr(any(miri, target_family = "wasm", shuttle), allow(dead_code))]
mod pace;
#[cfg(all(not(miri), not(target_family = "wasm"), not(shuttle)))]
mod system;
#[cfg(all(not(miri), not(target_family = "wasm"), not(shuttle)))]
mod thread;
#[cfg(any(miri, target_family = "wasm", shuttle))]
#[path = "absent.rs"]
mod thread;

#[cfg(all(unix, not(miri)))] // no process is forked elsewhere
pub(crate) use thread::start_from_zero;
pub(crate) use thread::{begin, facts, note_given, note_noticed, unavailable};

/// What the clock advances. Alone in its cache lines, because every core reads it.
#[derive(Debug)]
#[repr(C, align(128))]
pub(crate) struct Epoch {
    /// What a thread's word holds if nothing has happened.
    armed: AtomicPtr<Descriptor>,
    /// The number of ticks so far.
    number: AtomicU64,
    /// When the last ticks were, each by its number.
    at: [AtomicU64; KEPT],
}

/// So many ticks are known.
const KEPT: usize = 64;

/// That of the clock. A test may have one of its own, whose ticks it makes itself.
pub(crate) static EPOCH: Epoch = Epoch::new();

/// What the clock has done so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) ticks: u64,
    /// The time since it began.
    pub(crate) age: Duration,
    /// The CPU time that it took.
    pub(crate) cost: Duration,
}

/// The last tick of the clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tick {
    /// The value for the words of threads.
    pub(crate) armed: u64,
    pub(crate) number: u64,
}

/// Ticks that a thread has not noticed before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NewTicks {
    /// When the first one was, or the first one that is still known.
    pub(crate) first: Ticks,
    pub(crate) last: Ticks,
}

impl Epoch {
    pub(crate) const fn new() -> Self {
        Self {
            armed: AtomicPtr::new((&raw const DESCRIPTORS[0]).cast_mut()),
            number: AtomicU64::new(0),
            at: [const { AtomicU64::new(0) }; KEPT],
        }
    }

    /// What a thread's word holds if nothing has happened.
    #[inline(always)]
    pub(crate) fn armed(&self) -> u64 {
        self.armed.load(Acquire).addr() as u64
    }

    /// The last tick.
    pub(crate) fn last(&self) -> Tick {
        Tick {
            armed: self.armed(),
            number: self.number.load(Acquire),
        }
    }

    /// The ticks after number `noticed`, up to `last`, if there are any.
    pub(crate) fn since(&self, noticed: u64, last: Tick) -> Option<NewTicks> {
        let count = last.number.wrapping_sub(noticed);
        let at = |number: u64| self.at[number as usize % KEPT].load(Relaxed);
        let oldest = count.min(KEPT as u64).checked_sub(1)?;
        Some(NewTicks {
            first: at(last.number.wrapping_sub(oldest)),
            last: at(last.number),
        })
    }

    /// The clock ticks at the time `now`. Only one thread calls this.
    #[cfg_attr(any(miri, target_family = "wasm", shuttle), allow(dead_code))]
    pub(crate) fn advance(&self, now: Ticks) {
        let number = self.number.load(Relaxed).wrapping_add(1);
        self.at[number as usize % KEPT].store(now, Relaxed);
        self.number.store(number, Release);
        let armed = &raw const DESCRIPTORS[number as usize % DESCRIPTORS.len()];
        self.armed.store(armed.cast_mut(), Release);
    }
}
