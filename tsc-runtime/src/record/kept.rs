//! What a thread knows of the slow calls that it has kept last.

use std::cell::Cell;

use crate::recorded::Value;
use crate::tsc::Ticks;

/// So many calls are noted. If more were kept in a call, its stop looks through all records.
pub(super) const RECENT: usize = 32;

/// A call that was kept: the number of its callsite, and its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Noted {
    pub(super) number: u32,
    pub(super) begin: Ticks,
    pub(super) end: Ticks,
}

const NOTHING: Noted = Noted {
    number: u32::MAX,
    begin: 0,
    end: 0,
};

/// The calls that a thread has kept last.
#[derive(Debug)]
pub(crate) struct Kept {
    /// Those whose callers are not known. The latest of them is before `next`.
    pub(super) recent: [Cell<Noted>; RECENT],
    pub(super) next: Cell<usize>,
    /// When the latest one has ended whose callers are not known. Calls that have started before are its callers.
    pub(super) latest_end: Cell<Ticks>,
    /// The latest one, whether its callers are known or not.
    pub(super) last: Cell<Noted>,
    /// Set while the expression of a `record = …` is evaluated.
    evaluating: Cell<bool>,
    /// The value of an async function's call that is about to complete, and the callsite.
    value: Cell<Option<(u32, Value)>>,
}

impl Kept {
    pub(super) const fn new() -> Self {
        Self {
            recent: [const { Cell::new(NOTHING) }; RECENT],
            next: Cell::new(0),
            latest_end: Cell::new(0),
            last: Cell::new(NOTHING),
            evaluating: Cell::new(false),
            value: Cell::new(None),
        }
    }

    /// Whether calls were kept in a call that has started at `start`.
    #[inline(always)]
    pub(crate) fn is_any_since(&self, start: Ticks) -> bool {
        self.latest_end.get() > start
    }

    /// The times of the call that was kept last, if it is one of this callsite that has begun then.
    pub(crate) fn last_is(&self, number: u32, begin: Ticks) -> Option<Ticks> {
        let last = self.last.get();
        (last.number == number && last.begin == begin).then_some(last.end)
    }

    /// Marks that an expression is being evaluated. Returns false if one is already.
    pub(crate) fn begin_evaluating(&self) -> bool {
        !self.evaluating.replace(true)
    }

    pub(crate) fn end_evaluating(&self) {
        self.evaluating.set(false);
    }

    /// Hands a value to the completion of an async function's call, which follows.
    pub(crate) fn set_value(&self, number: u32, value: Option<Value>) {
        self.value.set(value.map(|value| (number, value)));
    }

    /// The value that was handed over for a call of this callsite.
    pub(crate) fn value_for(&self, number: u32) -> Option<Value> {
        let (its, value) = self.value.get()?;
        (its == number).then_some(value)
    }

    /// Forgets everything, because the thread ends.
    pub(super) fn clear(&self) {
        self.latest_end.set(0);
        self.last.set(NOTHING);
        self.recent.iter().for_each(|recent| recent.set(NOTHING));
    }
}
