//! What a thread knows of the slow calls that it has kept last.

use std::cell::Cell;

use super::Record;
use super::table::Position;
use super::thread::Thread;
use crate::recorded::Value;
use crate::tsc::Ticks;

/// So many calls are noted. If more were kept in a call, its stop looks through all records.
const RECENT: usize = 32;

/// A call that was kept: the number of its callsite, and its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Noted {
    number: u32,
    begin: Ticks,
    end: Ticks,
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
    recent: [Cell<Noted>; RECENT],
    next: Cell<usize>,
    /// When the latest one has ended whose callers are not known. Calls that have started before are its callers.
    latest_end: Cell<Ticks>,
    /// The latest one, whether its callers are known or not.
    last: Cell<Noted>,
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

impl Thread {
    /// Notes that a call was kept. If its callers are not known, those that are running take the path of unusual calls at their stops.
    pub(crate) fn note_kept(&self, number: u32, begin: Ticks, end: Ticks, is_open: bool) {
        let noted = Noted { number, begin, end };
        let kept = &self.kept;
        kept.last.set(noted);
        if is_open {
            let next = kept.next.get();
            kept.recent[next].set(noted);
            kept.next.set((next + 1) % RECENT);
            kept.latest_end.set(end);
            self.detector.note_kept(end);
        }
    }

    /// Calls `f` with the records of which calls were kept since `start`, and perhaps with others.
    pub(crate) fn for_each_kept_since(&self, start: Ticks, f: impl Fn(&Record)) {
        let kept = &self.kept;
        let latest_first = (1..=RECENT).map(|back| (kept.next.get() + RECENT - back) % RECENT);
        for at in latest_first {
            let Noted { number, end, .. } = kept.recent[at].get();
            if end <= start {
                return;
            }
            if let Some(record) = self.find_invalidated(Position::of(number)) {
                f(record);
            }
        }
        self.for_each_record(f);
    }

    fn for_each_record(&self, f: impl Fn(&Record)) {
        let positions = (0..).map(Position::of);
        positions
            .take_while(|&position| self.has_room_for(position))
            .filter_map(|position| self.find_invalidated(position))
            .for_each(f);
    }
}
