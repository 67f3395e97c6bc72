//! The records of which a thread has kept calls.

use super::Record;
use super::kept::{Noted, RECENT};
use super::table::Position;
use super::thread::Thread;
use crate::tsc::Ticks;

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
