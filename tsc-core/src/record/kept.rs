//! What a thread knows of the slow calls that it has kept last.

use std::cell::Cell;

use crate::recorded::Value;
use crate::tsc::Ticks;

/// So many calls are noted. If more were kept in a call, its stop looks through all records.
const RECENT: usize = 32;

/// A call that was kept: the number of its callsite, and its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Noted {
    pub(crate) number: u32,
    pub(crate) begin: Ticks,
    pub(crate) end: Ticks,
}

const NOTHING: Noted = Noted {
    number: u32::MAX,
    begin: 0,
    end: 0,
};

/// The calls that a thread has kept last.
#[derive(Debug)]
pub(crate) struct Kept {
    /// Those whose callers are not known. The latest of them is before `next`. Calls that have started before its end are its callers.
    recent: [Cell<Noted>; RECENT],
    next: Cell<usize>,
    /// The latest one, whether its callers are known or not.
    last: Cell<Noted>,
    /// Set while the expression of a `record = …` is evaluated.
    pub(crate) evaluating: Cell<bool>,
    /// The value of an async function's call that is about to complete, and the callsite.
    pub(crate) value: Cell<Option<(u32, Value)>>,
}

impl Kept {
    pub(super) const fn new() -> Self {
        Self {
            recent: [const { Cell::new(NOTHING) }; RECENT],
            next: Cell::new(0),
            last: Cell::new(NOTHING),
            evaluating: Cell::new(false),
            value: Cell::new(None),
        }
    }

    /// The times of the call that was kept last, if it is one of this callsite that has begun then.
    pub(crate) fn last_is(&self, number: u32, begin: Ticks) -> Option<Ticks> {
        let last = self.last.get();
        (last.number == number && last.begin == begin).then_some(last.end)
    }

    /// Notes a call, whose callers are known unless it `is_open`.
    pub(super) fn note(&self, call: Noted, is_open: bool) {
        self.last.set(call);
        if is_open {
            let next = self.next.get();
            self.recent[next].set(call);
            self.next.set((next + 1) % RECENT);
        }
    }

    /// Those whose callers are not known, the latest first.
    pub(super) fn latest_first(&self) -> impl Iterator<Item = Noted> {
        let (after, before) = self.recent.split_at(self.next.get());
        after.iter().rev().chain(before.iter().rev()).map(Cell::get)
    }

    /// Forgets everything, because the thread ends.
    pub(super) fn clear(&self) {
        self.last.set(NOTHING);
        self.recent.iter().for_each(|recent| recent.set(NOTHING));
    }
}
