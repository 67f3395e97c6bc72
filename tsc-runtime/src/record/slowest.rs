//! The slowest calls of a record.
//!
//! A stop compares its call with a threshold anyway, to find calls that are too long for the buffer. So the threshold is lowered to the
//! shortest of the calls that are kept, and what is longer takes the path of unusual calls, in which it is compared again, exactly.
//!
//! Each record has room for as many calls as `TSC_SLOWEST` says, made together with the record. Nothing is allocated later.

use std::cell::Cell;
use std::sync::Arc;

use once_cell::race::OnceNonZeroUsize;

use super::{BUFFERED_BELOW, Record};
use crate::environment;
use crate::recorded::Value;
use crate::sync::atomic::AtomicU64;
use crate::tsc::Ticks;
use words::{EMPTY, WORDS, ended_since, is_call, is_empty, ticks_of};

mod words;

/// How many calls of each function are kept by default.
const USUAL: usize = 5;
/// The most calls that can be kept of each function.
pub(crate) const MOST: usize = 64;
/// The most callers of a call that are kept.
pub(crate) const CALLERS: usize = 16;

/// No call of fewer ticks is kept unless it is unusual for another reason: the shortest calls must not even compare.
pub(crate) const LEAST: u64 = if cfg!(any(target_arch = "x86", target_arch = "x86_64")) {
    512
} else {
    0
};

/// How many calls of each function are kept.
pub(crate) fn wanted() -> usize {
    static WANTED: OnceNonZeroUsize = OnceNonZeroUsize::new();
    let one_more = WANTED.get_or_init(|| {
        let wanted = environment::SLOWEST.parse(|value| {
            let wanted: usize = value.parse().ok()?;
            (wanted <= MOST).then_some(wanted)
        });
        (wanted.unwrap_or(USUAL) + 1)
            .try_into()
            .expect("it is above 0")
    });
    one_more.get() - 1
}

/// A call that may be kept.
#[derive(Clone, Copy, Debug, PartialEq)]
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

/// A list of callsites. The ones that have no room are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Callers {
    len: u8,
    numbers: [u32; CALLERS],
}

impl Callers {
    /// Adds a caller, unless it is there.
    pub(crate) fn add(&mut self, number: u32) {
        if self.numbers().contains(&number) {
            return;
        }
        if let Some(place) = self.numbers.get_mut(usize::from(self.len)) {
            *place = number;
            self.len += 1;
        }
    }

    pub(crate) fn numbers(&self) -> &[u32] {
        &self.numbers[..usize::from(self.len).min(CALLERS)]
    }
}

/// A thread, for people and for other tools.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ThreadFacts {
    pub(crate) id: u64,
    pub(crate) name: Option<String>,
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
        let key = |kept: &Self| (kept.call.begin, kept.call.end, kept.thread.id);
        key(self) == key(other)
    }
}

/// Keeps the longest calls of both lists.
pub(crate) fn merge(one: &mut Vec<KeptCall>, other: &[KeptCall]) {
    if other.is_empty() {
        return;
    }
    one.extend_from_slice(other);
    one.sort_by_key(|kept| (std::cmp::Reverse(kept.call.ticks), kept.call.begin));
    one.truncate(wanted());
}

/// Removes the calls of the earlier list.
pub(crate) fn subtract(calls: &mut Vec<KeptCall>, earlier: &[KeptCall]) {
    calls.retain(|kept| !earlier.iter().any(|earlier| earlier.is(kept)));
}

/// The room for a record's slowest calls.
#[derive(Debug)]
pub(super) struct Slowest {
    thread: Arc<ThreadFacts>,
    places: Box<[[AtomicU64; WORDS]]>,
    /// Set while a place is being written. A signal handler that comes in between keeps no call.
    busy: Cell<bool>,
}

impl Slowest {
    /// `None` if no calls are to be kept, or if there is no memory.
    fn new(thread: Arc<ThreadFacts>) -> Option<Self> {
        let mut places: Vec<[AtomicU64; WORDS]> = Vec::new();
        places.try_reserve_exact(wanted()).ok()?;
        places.resize_with(wanted(), || [const { AtomicU64::new(0) }; WORDS]);
        let places = places.into_boxed_slice();
        places.iter().for_each(clear);
        (!places.is_empty()).then_some(Self {
            thread,
            places,
            busy: Cell::new(false),
        })
    }

    /// The place to which a call belongs that is longer than the one there.
    fn shortest(&self) -> Option<&[AtomicU64; WORDS]> {
        self.places.iter().min_by_key(|place| ticks_of(place))
    }

    fn place_of(&self, begin: Ticks, end: Ticks) -> Option<&[AtomicU64; WORDS]> {
        self.places.iter().find(|place| is_call(place, begin, end))
    }

    /// A call of so many raw ticks or fewer need not be looked at.
    fn threshold(&self) -> u64 {
        let shortest = self.shortest().map_or(i64::MAX, ticks_of);
        let shortest = shortest.max(0).cast_unsigned();
        shortest.clamp(LEAST, BUFFERED_BELOW - 1)
    }
}

fn clear(place: &[AtomicU64; WORDS]) {
    EMPTY.write(place);
}

impl Record {
    /// Makes room for the slowest calls. Called before the record is used.
    pub(crate) fn keep_slowest(&mut self, thread: &Arc<ThreadFacts>) {
        self.slowest = Slowest::new(Arc::clone(thread));
        self.set_threshold();
    }

    fn set_threshold(&self) {
        if let Some(slowest) = &self.slowest {
            self.notable_above.set(slowest.threshold());
        }
    }

    /// Whether a call of so many ticks is among the slowest.
    pub(crate) fn is_slow(&self, ticks: i64) -> bool {
        let shortest = self.slowest.as_ref().and_then(Slowest::shortest);
        shortest.is_some_and(|place| ticks > ticks_of(place))
    }

    /// Keeps a call in the place of the shortest one. Returns false if that one is not shorter.
    pub(crate) fn keep(&self, call: &SlowCall) -> bool {
        self.change_slowest(|slowest| {
            let shortest = slowest
                .shortest()
                .filter(|place| call.ticks > ticks_of(place));
            shortest.map(|place| call.write(place)).is_some()
        })
    }

    /// Adds a caller or the value to a call that is kept.
    pub(crate) fn complete_slow(&self, begin: Ticks, end: Ticks, add: impl FnOnce(&mut SlowCall)) {
        self.change_slowest(|slowest| {
            let Some(place) = slowest.place_of(begin, end) else {
                return false;
            };
            let mut call = SlowCall::read(place);
            add(&mut call);
            call.write(place);
            true
        });
    }

    /// Adds a caller to the calls that have ended since `start`.
    pub(crate) fn add_caller_since(&self, start: Ticks, number: u32) {
        self.change_slowest(|slowest| {
            for place in slowest
                .places
                .iter()
                .filter(|place| ended_since(place, start))
            {
                let mut call = SlowCall::read(place);
                call.callers.add(number);
                call.write(place);
            }
            true
        });
    }

    fn change_slowest(&self, change: impl FnOnce(&Slowest) -> bool) -> bool {
        let Some(slowest) = &self.slowest else {
            return false;
        };
        if slowest.busy.replace(true) {
            return false;
        }
        self.open();
        let changed = change(slowest);
        self.set_threshold();
        self.close();
        slowest.busy.set(false);
        changed
    }

    /// Forgets the calls that are in the earlier list.
    pub(super) fn forget_slowest(&self, earlier: &[KeptCall]) {
        self.change_slowest(|slowest| {
            for KeptCall { call, .. } in earlier {
                if let Some(place) = slowest.place_of(call.begin, call.end) {
                    clear(place);
                }
            }
            true
        });
    }

    /// The slowest calls in any order. To be called like the other reads.
    pub(super) fn read_slowest(&self) -> Vec<KeptCall> {
        let Some(slowest) = &self.slowest else {
            return Vec::new();
        };
        let used = slowest.places.iter();
        used.filter(|place| !is_empty(place))
            .map(|place| KeptCall {
                call: SlowCall::read(place),
                thread: Arc::clone(&slowest.thread),
            })
            .collect()
    }
}
