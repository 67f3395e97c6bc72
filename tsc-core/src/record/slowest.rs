//! The slowest calls of a record.
//!
//! A stop compares its call with a threshold anyway, to find calls that are too long for the buffer. So the threshold is lowered to the
//! shortest of the calls that are kept, and what is longer takes the path of unusual calls, in which it is compared again, exactly.
//!
//! Each record has places for as many calls as `TSC_SLOWEST` says, made together with the record. Nothing is allocated later.

use std::cell::Cell;
use std::cmp::Reverse;
use std::ops::DerefMut;
use std::sync::Arc;

use once_cell::race::OnceBox;

use super::arena::Arena;
use super::{BUFFERED_BELOW, Record};
use crate::environment;
use crate::recorded::Value;
use crate::sync::{Mutex, spin_loop};
use crate::tsc::Ticks;
use tsc_report::__private::sorted;

/// How many calls of each function are kept by default.
const USUAL: usize = 5;
/// The most calls that can be kept of each function.
pub(crate) const MOST: usize = 64;
/// How often a call tries to lock the places: for some microseconds.
const ATTEMPTS: u32 = 1000;
/// The most callers of a call that are kept.
pub(crate) const CALLERS: usize = 16;

/// No call of fewer ticks is kept unless it is unusual for another reason: the shortest calls must not even compare.
///
/// No panic leaves a call in fewer ticks, either, so these calls need not ask whether there is one. Unwinding takes two walks over the stack,
/// which search tables and allocate: a microsecond or more. No x86 processor counts less than a tick in a nanosecond; other counters may be
/// slow, so there every call of a tick or more asks.
pub(crate) const LEAST: u64 = if cfg!(any(target_arch = "x86", target_arch = "x86_64")) {
    512
} else {
    1
};

/// How many calls of each function are kept.
pub(crate) fn wanted() -> usize {
    static WANTED: OnceBox<usize> = OnceBox::new();
    *WANTED.get_or_init(|| {
        let few = |value: &str| value.parse().ok().filter(|&wanted| wanted <= MOST);
        Box::new(environment::SLOWEST.parse(few).unwrap_or(USUAL))
    })
}

/// A call that may be kept.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SlowCall {
    pub(crate) begin: Ticks,
    pub(crate) end: Ticks,
    /// By which calls are compared: on the CPU and blocked; of an async function, from the first poll to the end of the last one.
    pub(crate) ticks: i64,
    pub(crate) on_cpu: Option<i64>,
    pub(crate) blocked: Option<i64>,
    pub(crate) waiting: Option<i64>,
    /// The CPU on which it ended.
    pub(crate) cpu: Option<u32>,
    pub(crate) panicked: bool,
    /// The numbers of the callsites around it, from the inside out, each of them once.
    pub(crate) callers: Callers,
    pub(crate) value: Option<Value>,
}

const _: () = assert!(
    size_of::<Option<SlowCall>>() <= 192,
    "as `docs/slowest.md` says"
);

impl SlowCall {
    fn times(&self) -> (Ticks, Ticks) {
        (self.begin, self.end)
    }
}

/// A list of callsites. The ones that have no room are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Callers {
    len: u8,
    numbers: [u32; CALLERS],
}

impl Callers {
    /// Adds a caller, unless it is there.
    pub(crate) fn add(&mut self, number: u32) {
        let is_new = !self.numbers().contains(&number);
        if is_new && let Some(place) = self.numbers.get_mut(usize::from(self.len)) {
            *place = number;
            self.len += 1;
        }
    }

    pub(crate) fn numbers(&self) -> &[u32] {
        &self.numbers[..usize::from(self.len).min(CALLERS)]
    }
}

/// A thread, for people and for other tools.
#[derive(Debug, Default)]
pub(crate) struct ThreadFacts {
    pub(crate) id: u64,
    pub(crate) name: Option<Arc<str>>,
}

/// A call with its thread.
#[derive(Clone, Debug)]
pub(crate) struct KeptCall {
    pub(crate) call: SlowCall,
    pub(crate) thread: Arc<ThreadFacts>,
}

impl KeptCall {
    /// Whether both are the same call, of which one may know more.
    fn is(&self, other: &Self) -> bool {
        let key = |kept: &Self| (kept.call.times(), kept.thread.id);
        key(self) == key(other)
    }
}

/// Keeps the longest calls of both lists.
pub(crate) fn merge(one: &mut Vec<KeptCall>, other: &[KeptCall]) {
    if other.is_empty() {
        return;
    }
    one.extend_from_slice(other);
    *one = sorted(one, &|one, other| {
        let key = |kept: &KeptCall| (Reverse(kept.call.ticks), kept.call.begin);
        key(one).cmp(&key(other))
    });
    one.truncate(wanted());
}

/// Removes the calls of the earlier list.
pub(crate) fn subtract(calls: &mut Vec<KeptCall>, earlier: &[KeptCall]) {
    calls.retain(|kept| !earlier.iter().any(|earlier| earlier.is(kept)));
}

/// `None` if the lock does not become free soon.
fn lock_soon<T>(lock: &Mutex<T>) -> Option<impl DerefMut<Target = T>> {
    (0..ATTEMPTS).find_map(|_| {
        let locked = lock.try_lock();
        if locked.is_none() {
            spin_loop();
        }
        locked
    })
}

/// By which calls are compared. What is in no place is shorter than any call.
fn ticks_of(place: &Option<SlowCall>) -> i64 {
    place.as_ref().map_or(i64::MIN, |call| call.ticks)
}

/// A record's slowest calls, in any order.
///
/// While the lock is held, a reader finds the record being written, and reads again. A call waits for a reader, which copies a few calls, but not
/// for long: a signal handler may have interrupted its own thread, or the reader may have lost the CPU. Then it is not kept.
#[derive(Debug)]
pub(super) struct Slowest {
    thread: Arc<ThreadFacts>,
    /// In the arena of the record's table.
    calls: Mutex<&'static mut [Option<SlowCall>]>,
    /// Only longer calls are kept. For the record's own thread.
    above: Cell<i64>,
}

impl Record {
    /// Makes places for the slowest calls, unless none are to be kept, or there is no memory. Called before the record is used.
    ///
    /// # Safety
    ///
    /// The arena outlives the record.
    pub(crate) unsafe fn keep_slowest(&mut self, thread: &Arc<ThreadFacts>, arena: &mut Arena) {
        if wanted() == 0 {
            return;
        }
        // SAFETY: guaranteed by the caller.
        if let Some(places) = unsafe { arena.copies(None, wanted()) } {
            self.slowest = Some(Slowest {
                thread: Arc::clone(thread),
                calls: Mutex::new(places),
                above: Cell::new(i64::MIN),
            });
            self.notable_above.set(LEAST);
        }
    }

    /// Whether a call of so many ticks is among the slowest.
    pub(crate) fn is_slow(&self, ticks: i64) -> bool {
        let slowest = self.slowest.as_ref();
        slowest.is_some_and(|slowest| ticks > slowest.above.get())
    }

    /// Keeps a call, if there is room or in the place of the shortest one. Returns false if that one is not shorter.
    pub(crate) fn keep(&self, call: SlowCall) -> bool {
        self.is_slow(call.ticks)
            && self.change_slowest(|calls| {
                let shortest = calls.iter_mut().min_by_key(|kept| ticks_of(kept));
                shortest.into_iter().for_each(|place| *place = Some(call));
            })
    }

    /// Adds the value to a call that is kept.
    pub(crate) fn complete_slow(&self, begin: Ticks, end: Ticks, value: Value) {
        self.change_slowest(|calls| {
            let mut kept = calls.iter_mut().flatten();
            if let Some(call) = kept.find(|call| call.times() == (begin, end)) {
                call.value = Some(value);
            }
        });
    }

    /// Adds a caller to the calls that have ended since `start`.
    pub(crate) fn add_caller_since(&self, start: Ticks, number: u32) {
        self.change_slowest(|calls| {
            let kept = calls.iter_mut().flatten();
            let within = kept.filter(|call| call.end > start);
            within.for_each(|call| call.callers.add(number));
        });
    }

    /// Forgets the calls that are in the earlier list. Neither allocates nor frees.
    pub(super) fn forget_slowest(&self, earlier: &[KeptCall]) {
        let is_earlier = |times| earlier.iter().any(|kept| kept.call.times() == times);
        self.change_slowest(|calls| {
            for place in calls {
                place.take_if(|call| is_earlier(call.times()));
            }
        });
    }

    /// Returns whether the change could be made.
    fn change_slowest(&self, change: impl FnOnce(&mut [Option<SlowCall>])) -> bool {
        let Some(slowest) = &self.slowest else {
            return false;
        };
        // Before the lock is taken, so that a reader who finds it locked reads again.
        self.sequence.open();
        let mut calls = lock_soon(&slowest.calls);
        if let Some(calls) = calls.as_deref_mut() {
            change(calls);
            let above = calls.iter().map(ticks_of).min().unwrap_or(i64::MIN);
            slowest.above.set(above);
            let above = above.max(0).cast_unsigned();
            self.notable_above
                .set(above.clamp(LEAST, BUFFERED_BELOW - 1));
        }
        let is_changed = calls.is_some();
        drop(calls);
        self.sequence.close();
        is_changed
    }

    /// The slowest calls in any order. To be called like the other reads.
    pub(super) fn read_slowest(&self) -> Vec<KeptCall> {
        let Some(Slowest { thread, calls, .. }) = &self.slowest else {
            return Vec::new();
        };
        // Allocated before, because the thread keeps no call while the lock is held.
        let mut copies = Vec::with_capacity(wanted());
        if let Some(calls) = calls.try_lock() {
            copies.extend(calls.iter().flatten().map(|&call| KeptCall {
                call,
                thread: Arc::clone(thread),
            }));
        }
        copies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_caller_is_listed_once_and_the_last_ones_have_no_room() {
        let mut callers = Callers::default();
        (1..30).for_each(|number| callers.add(number % 20));
        assert_eq!(callers.numbers(), (1..=16).collect::<Vec<u32>>());
    }
}
