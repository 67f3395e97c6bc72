//! The owner of a record, beside which others point to the record as well.

use core::ops::Deref;
use core::ptr::NonNull;

use super::Record;

/// A record on the heap.
///
/// Not a `Box`, whose every move promises that nobody else has a pointer to its content: the thread's table and running probes point
/// to the record, and the record's histogram points into itself.
#[derive(Debug)]
pub(crate) struct OwnedRecord(NonNull<Record>);

impl OwnedRecord {
    pub(crate) fn new(record: Record) -> Self {
        Self(NonNull::from(Box::leak(Box::new(record))))
    }

    /// What others may keep as long as this lives.
    pub(crate) const fn as_ptr(&self) -> *const Record {
        self.0.as_ptr()
    }

    /// Gives the record away.
    pub(crate) const fn into_raw(self) -> *const Record {
        let record = self.as_ptr();
        core::mem::forget(self);
        record
    }

    /// The owner once more.
    ///
    /// # Safety
    ///
    /// `record` is from [`into_raw`](Self::into_raw), once.
    pub(crate) const unsafe fn from_raw(record: *const Record) -> Self {
        // SAFETY: the caller's, and that pointer is not null.
        Self(unsafe { NonNull::new_unchecked(record.cast_mut()) })
    }
}

impl Deref for OwnedRecord {
    type Target = Record;

    fn deref(&self) -> &Record {
        // SAFETY: made from a Box in `new`, and freed by `drop` alone.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for OwnedRecord {
    fn drop(&mut self) {
        // SAFETY: made from a Box in `new`; whoever was given a pointer no longer uses it.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
