//! A thread's table. For every callsite it has the record on that thread and the number of running activations.
//!
//! It grows by segments, each of which is as long as all before it plus [`FIRST_LEN`]. So an entry never moves, and a running activation
//! can keep a pointer to its entry.

use core::mem;
use core::ptr::{self, NonNull};

use crate::record::Record;
use crate::record::arena::Arena;
use crate::record::pages::Zeroed;
use crate::record::slices::Slices;
use crate::sync::atomic::Ordering::{Relaxed, Release};
use crate::sync::atomic::{AtomicPtr, AtomicU32};

/// Entries of the first segment.
pub(crate) const FIRST_LEN: usize = 16;
/// The largest number of segments, which is enough for a million callsites.
pub(crate) const SEGMENTS: usize = 16;

/// The entry of one callsite in a thread's table.
///
/// The number of activations is here and not in the record, because a start has to wait for it, and here it is one load closer.
#[derive(Debug)]
#[repr(C, align(16))]
pub(crate) struct Entry {
    /// Null where the callsite was not called on the thread.
    record: AtomicPtr<Record>,
    /// Activations that have started and not stopped. Written by the thread alone.
    depth: AtomicU32,
}

impl Entry {
    pub(crate) const fn new() -> Self {
        Self {
            record: AtomicPtr::new(ptr::null_mut()),
            depth: AtomicU32::new(0),
        }
    }

    pub(crate) fn set_record(&self, record: *const Record) {
        self.record.store(record.cast_mut(), Release);
    }

    #[inline(always)]
    pub(crate) fn record(&self) -> *const Record {
        self.record.load(Relaxed)
    }

    /// Called when an activation starts.
    #[inline(always)]
    pub(crate) fn enter(&self) {
        self.depth.store(self.depth().wrapping_add(1), Relaxed);
    }

    /// Called when an activation stops. Returns whether it was inside another one.
    #[inline(always)]
    pub(crate) fn leave(&self) -> bool {
        let depth = self.depth().wrapping_sub(1);
        self.depth.store(depth, Relaxed);
        depth != 0
    }

    #[inline(always)]
    pub(crate) fn depth(&self) -> u32 {
        self.depth.load(Relaxed)
    }
}

/// The position of a callsite's entry, which is the same in all tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) segment: u8,
    /// In the segment, in bytes.
    pub(crate) offset: u32,
}

impl Position {
    pub(crate) const fn of(number: u32) -> Self {
        let biased = number as usize + FIRST_LEN;
        let segment = (biased / FIRST_LEN).ilog2();
        let index = biased - (FIRST_LEN << segment);
        Self {
            segment: segment as u8,
            offset: (index * size_of::<Entry>()) as u32,
        }
    }

    pub(crate) const fn number(self) -> u32 {
        let index = self.offset as usize / size_of::<Entry>();
        ((FIRST_LEN << self.segment) - FIRST_LEN + index) as u32
    }
}

// SAFETY: it consists of a pointer that may be null and an integer.
unsafe impl Zeroed for Entry {}

/// The existing segments of a thread's table, and its records.
///
/// A record is not in a `Box`, because moving a `Box` asserts that nothing else points to its content. The table and running probes point to
/// the record, and the record's histogram points into itself.
#[derive(Debug)]
pub(crate) struct Table {
    segments: Slices<Entry, FIRST_LEN>,
    /// One more than the highest number of which there is a record.
    len: usize,
    /// Where the records are.
    arena: Arena,
}

// SAFETY: it owns all that it points to, which is of types that may be sent.
unsafe impl Send for Table {}

impl Table {
    pub(crate) const fn new() -> Self {
        Self {
            segments: Slices::new(),
            len: 0,
            arena: Arena::new(),
        }
    }

    /// The record of callsite `number`, which `make` makes if it does not exist. `None` if there is no memory.
    pub(crate) fn record(
        &mut self,
        number: usize,
        make: impl FnOnce(*const Entry, &mut Arena) -> Record,
    ) -> Option<NonNull<Record>> {
        let position = Position::of(number as u32);
        let segment = usize::from(position.segment);
        while self.segments.count() <= segment {
            self.segments.grow()?;
        }
        let index = position.offset as usize / size_of::<Entry>();
        let entry = self.segments.get(segment)?.get(index)?;
        if entry.record().is_null() {
            let place = self.arena.places::<Record>(1)?;
            let record = make(entry, &mut self.arena);
            // SAFETY: the place is new, and for a record.
            unsafe { place.write(record) };
            entry.set_record(place.as_ptr());
            self.len = self.len.max(number + 1);
        }
        NonNull::new(entry.record().cast_mut())
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = &Record> {
        let entries = self.segments().flatten();
        // SAFETY: null becomes `None`, and what is dropped is set to null.
        entries.filter_map(|entry| unsafe { entry.record().as_ref() })
    }

    /// Drops the records that are not needed any more, and returns whether others remain. To be called after the thread has stopped using them.
    pub(crate) fn drop_records(&mut self, has_ended: impl Fn(&Record) -> bool) -> bool {
        for entry in self.segments().flatten() {
            let record = entry.record().cast_mut();
            // SAFETY: as in `records`.
            if unsafe { record.as_ref() }.is_some_and(&has_ended) {
                entry.set_record(ptr::null());
                // SAFETY: `record` has written it, and nobody finds it any more.
                unsafe { record.drop_in_place() };
            }
        }
        self.records().next().is_some()
    }

    /// Takes the memory for another thread, unless there is much of it: new pages take long beside the start of a thread. To be called when
    /// there are no records any more.
    pub(crate) fn take_for_reuse(&mut self) -> Option<Self> {
        let is_small = self.segments.count() <= 2 && self.arena.has_one_chunk();
        is_small.then(|| {
            let mut table = mem::replace(self, Self::new());
            table.len = 0;
            table.arena.clear();
            table
        })
    }

    pub(crate) fn segments(&self) -> impl Iterator<Item = &[Entry]> {
        self.segments.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        self.drop_records(|_| true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_position_of_its_own() {
        let mut last = None;
        for number in 0..100_000 {
            let position = Position::of(number);
            assert_eq!(position.number(), number);
            assert_ne!(Some(position), last);
            last = Some(position);
        }
        assert!(usize::from(Position::of(1_000_000).segment) < SEGMENTS);
    }

    #[test]
    fn records_and_entries_stay_where_they_are() {
        let mut table = Table::new();
        let mut record = |number: usize| {
            let record = table.record(number, |entry, _| {
                // SAFETY: the table drops the record before the entry.
                unsafe { Record::new(number as u32, 1, entry) }
            });
            // SAFETY: the table lives until the end of the test.
            unsafe { record.unwrap().as_ref() }
        };
        let first = record(3);
        first.entry().enter();
        for number in (0..1000).rev() {
            record(number).entry().enter();
        }
        assert!(ptr::eq(first, record(3)));
        assert_eq!(first.entry().depth(), 2);
        assert!(first.entry().leave() && !first.entry().leave());
        assert_eq!((table.segments().count(), table.len()), (6, 1000));
        let numbers: Vec<u32> = table.records().map(|record| record.id).collect();
        assert_eq!(numbers, (0..1000).collect::<Vec<u32>>());
    }

    #[test]
    fn records_of_running_calls_remain() {
        let mut table = Table::new();
        for number in [2, 40] {
            // SAFETY: as above.
            table.record(number, |entry, _| unsafe {
                Record::new(number as u32, 1, entry)
            });
        }
        table.records().last().unwrap().entry().enter();
        assert!(table.drop_records(|record| !record.is_running()));
        assert_eq!(
            table.records().map(|record| record.id).collect::<Vec<_>>(),
            [40]
        );
        table.records().last().unwrap().entry().leave();
        assert!(!table.drop_records(|record| !record.is_running()));
    }
}
