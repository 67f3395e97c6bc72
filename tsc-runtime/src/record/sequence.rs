//! The number by which a reader knows whether the values that it has read belong together.

use crate::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};

/// Odd while values are being written. One thread writes, others may read. All values are atomics.
#[derive(Debug)]
pub(super) struct Sequence(pub(super) AtomicU32);

impl Sequence {
    /// Begins a write. Readers that come in between will read again.
    pub(super) fn open(&self) {
        self.0.store(self.0.load(Relaxed).wrapping_add(1), Relaxed);
        fence(Release);
    }

    /// Ends a write.
    pub(super) fn close(&self) {
        self.0.store(self.0.load(Relaxed).wrapping_add(1), Release);
    }

    /// What `read` reads, and whether nothing was written meanwhile.
    pub(super) fn read_once<T>(&self, read: impl FnOnce() -> T) -> (T, bool) {
        let before = self.0.load(Acquire);
        let values = read();
        fence(Acquire);
        let is_whole = before & 1 == 0 && self.0.load(Relaxed) == before;
        (values, is_whole)
    }
}
