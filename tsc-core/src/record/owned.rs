//! The owner of a record to which others have pointers.

use core::ops::Deref;
use core::ptr::NonNull;
use std::alloc::{Layout, alloc};

use super::Record;

/// A record on the heap.
///
/// This is not a `Box`, because moving a `Box` asserts that nothing else points to its content. The thread's table and running probes
/// point to the record, and the record's histogram points into itself.
#[derive(Debug)]
pub(crate) struct OwnedRecord(NonNull<Record>);

impl OwnedRecord {
    /// `None` if there is no memory.
    pub(crate) fn new(record: Record) -> Option<Self> {
        // SAFETY: a record has a size.
        let place = NonNull::new(unsafe { alloc(Layout::new::<Record>()) }.cast())?;
        // SAFETY: the place is new, and of a record's layout.
        unsafe { place.write(record) };
        Some(Self(place))
    }

    /// A pointer that others may use as long as this owner lives.
    pub(crate) const fn pointer(&self) -> NonNull<Record> {
        self.0
    }

    /// Releases the record without freeing it.
    pub(crate) const fn into_raw(self) -> NonNull<Record> {
        let record = self.0;
        core::mem::forget(self);
        record
    }

    /// Makes an owner from a released record.
    ///
    /// # Safety
    ///
    /// `record` must come from [`into_raw`](Self::into_raw), and be passed here only once.
    pub(crate) const unsafe fn from_raw(record: NonNull<Record>) -> Self {
        Self(record)
    }
}

impl Deref for OwnedRecord {
    type Target = Record;

    fn deref(&self) -> &Record {
        // SAFETY: `new` made it, and only `drop` frees it.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for OwnedRecord {
    fn drop(&mut self) {
        // SAFETY: `new` allocated it as a Box does. By now, nothing uses the pointers to it any more.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
