//! A thread's table. For every callsite it has the record on that thread and the number of running activations.
//!
//! It grows by segments, each of which is as long as all before it plus [`FIRST_LEN`]. So an entry never moves, and a running activation
//! can keep a pointer to its entry.

use core::ptr;

use crate::record::Record;
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

/// The existing segments of a thread's table.
#[derive(Debug, Default)]
pub(crate) struct Table(Vec<Box<[Entry]>>);

impl Table {
    /// The entry of callsite `number`, which is made now if it does not exist. `None` if there is no memory.
    pub(crate) fn entry(&mut self, number: usize) -> Option<&Entry> {
        let position = Position::of(number as u32);
        while self.0.len() <= usize::from(position.segment) {
            let len = FIRST_LEN << self.0.len();
            let mut segment = Vec::new();
            segment.try_reserve_exact(len).ok()?;
            segment.resize_with(len, Entry::new);
            self.0.try_reserve(1).ok()?;
            self.0.push(segment.into_boxed_slice());
        }
        let index = position.offset as usize / size_of::<Entry>();
        self.0.get(usize::from(position.segment))?.get(index)
    }

    pub(crate) fn segments(&self) -> impl Iterator<Item = &[Entry]> {
        self.0.iter().map(|segment| &**segment)
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
    fn entries_stay_where_they_are() {
        let mut table = Table::default();
        let first: *const Entry = table.entry(3).unwrap();
        table.entry(3).unwrap().enter();
        for number in 0..1000 {
            table.entry(number).unwrap().enter();
        }
        assert!(ptr::eq(first, table.entry(3).unwrap()));
        assert_eq!(table.entry(3).unwrap().depth(), 2);
        assert!(table.entry(3).unwrap().leave() && !table.entry(3).unwrap().leave());
        assert_eq!(table.segments().count(), 6);
    }
}
