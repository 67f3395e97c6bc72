//! What was counted in one callsite's calls, over all threads.

use std::ptr;
use std::sync::atomic::{
    AtomicI64, AtomicPtr, AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed},
};

use super::kinds::{Kind, MOST};
use crate::report::EventCount;

/// Advanced when all counts are forgotten; a row of an earlier one is empty.
pub(super) static GENERATION: AtomicU32 = AtomicU32::new(0);

/// A callsite's row, once there is one.
#[derive(Debug)]
pub(crate) struct RowCell(AtomicPtr<Row>);

impl RowCell {
    pub(crate) const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    pub(super) fn get(&self) -> Option<&'static Row> {
        // SAFETY: null, or from `get_or_make`, which frees none.
        unsafe { self.0.load(Acquire).as_ref() }
    }

    /// Allocates at the callsite's first call. As many rows are made as there are callsites, and none is freed.
    pub(super) fn get_or_make(&self) -> &'static Row {
        self.get().unwrap_or_else(|| {
            let fresh = Box::into_raw(Box::new(Row::new()));
            match self
                .0
                .compare_exchange(ptr::null_mut(), fresh, AcqRel, Acquire)
            {
                // SAFETY: just made, and never freed.
                Ok(_) => unsafe { &*fresh },
                Err(other) => {
                    // SAFETY: just made, and known to nobody else. The other is as in `get`.
                    unsafe {
                        drop(Box::from_raw(fresh));
                        &*other
                    }
                }
            }
        })
    }
}

/// Sums that threads add to without a lock, so that a signal handler may come in between.
#[derive(Debug)]
pub(super) struct Row {
    generation: AtomicU32,
    calls: AtomicU64,
    sums: [AtomicI64; MOST],
}

impl Row {
    fn new() -> Self {
        Self {
            generation: AtomicU32::new(GENERATION.load(Relaxed)),
            calls: AtomicU64::new(0),
            sums: [const { AtomicI64::new(0) }; MOST],
        }
    }

    /// A call has ended.
    pub(super) fn add(&self, counted: &[i64; MOST]) {
        self.catch_up();
        self.calls.fetch_add(1, Relaxed);
        for (sum, counted) in self.sums.iter().zip(counted) {
            sum.fetch_add(*counted, Relaxed);
        }
    }

    pub(super) fn counts(&self, kinds: &[Kind], forget: bool) -> Vec<EventCount> {
        self.catch_up();
        let calls = if forget {
            self.calls.swap(0, Relaxed)
        } else {
            self.calls.load(Relaxed)
        };
        let counts = kinds.iter().zip(&self.sums).map(|(kind, sum)| EventCount {
            event: kind.name.to_owned(),
            calls,
            count: if forget {
                sum.swap(0, Relaxed)
            } else {
                sum.load(Relaxed)
            },
        });
        let counts: Vec<EventCount> = counts.collect();
        if calls == 0 { Vec::new() } else { counts }
    }

    /// Clears what was forgotten.
    fn catch_up(&self) {
        let current = GENERATION.load(Relaxed);
        if self.generation.swap(current, Relaxed) != current {
            self.calls.store(0, Relaxed);
            self.sums.iter().for_each(|sum| sum.store(0, Relaxed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_of_the_current_generation_and_handed_out_once() {
        let kinds = &Kind::ALL[..2];
        let row = Row::new();
        assert!(row.counts(kinds, false).is_empty());
        let mut counted = [0; MOST];
        counted[..2].copy_from_slice(&[5, -1]);
        row.add(&counted);
        row.add(&counted);
        for forget in [false, true] {
            let counts = row.counts(kinds, forget);
            let figures: Vec<_> = counts.iter().map(|it| (it.calls, it.count)).collect();
            assert_eq!(figures, [(2, 10), (2, -2)]);
        }
        assert!(row.counts(kinds, false).is_empty());
        row.add(&counted);
        row.generation.fetch_sub(1, Relaxed);
        assert!(row.counts(kinds, false).is_empty());
    }
}
