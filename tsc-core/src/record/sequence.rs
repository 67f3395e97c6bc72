//! The number by which a reader knows whether the values that it has read belong together.

use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::sync::atomic::{AtomicU32, fence};

/// Odd while values are being written, unless a signal handler writes in the middle of a write: readers do not notice if they begin and end in
/// it. One thread writes, others may read. The values are atomics, or behind a lock.
#[derive(Debug)]
pub(super) struct Sequence(pub(super) AtomicU32);

impl Sequence {
    /// Begins a write. Readers that come in between will read again.
    #[inline(always)]
    pub(super) fn open(&self) {
        self.0.store(self.0.load(Relaxed).wrapping_add(1), Relaxed);
        fence(Release);
    }

    /// Ends a write.
    #[inline(always)]
    pub(super) fn close(&self) {
        self.0.store(self.0.load(Relaxed).wrapping_add(1), Release);
    }

    /// Begins to read. Returns what [`is_whole`](Self::is_whole) needs.
    #[inline(always)]
    pub(super) fn begin_read(&self) -> u32 {
        self.0.load(Acquire)
    }

    /// Whether nothing was written since [`begin_read`](Self::begin_read) returned `before`, so that the values read meanwhile belong together.
    #[inline(always)]
    pub(super) fn is_whole(&self, before: u32) -> bool {
        fence(Acquire);
        before & 1 == 0 && self.0.load(Relaxed) == before
    }
}
