//! How often each light callsite was called on a thread.

use crate::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The counters of one callsite on one thread, which only this thread writes.
#[derive(Debug, Default)]
#[repr(C, align(32))]
pub(crate) struct Row([AtomicU64; Row::COUNTERS]);

impl Row {
    const COUNTERS: usize = 4;
    /// Calls that have started; of an async function, those that have completed.
    pub(crate) const CALLS: usize = 0;
    /// What `bytes = …` or `items = …` counts.
    pub(crate) const UNITS: usize = 1;
    /// Polls of futures.
    pub(crate) const POLLS: usize = 2;
    /// Futures that were dropped before completion.
    pub(crate) const CANCELLED: usize = 3;

    /// The place of a callsite's row in the array of each thread, in bytes.
    pub(crate) const fn offset(number: u32) -> u32 {
        number * size_of::<Self>() as u32
    }

    /// Adds 1 to a counter. A single instruction on x86-64, so that a signal handler that counts in the same row runs before or after it,
    /// not in between. An optimising compiler generates it anyway, and keeps more values in registers around it.
    #[inline(always)]
    pub(crate) fn count<const COUNTER: usize>(&self) {
        #[cfg(all(target_arch = "x86_64", debug_assertions, not(miri)))]
        // SAFETY: this adds to an atomic that only this thread writes. Other threads see it like a store.
        unsafe {
            core::arch::asm!(
                "inc qword ptr [{} + {}]",
                in(reg) self.0.as_ptr(),
                const COUNTER * size_of::<AtomicU64>(),
                options(nostack)
            );
        }
        #[cfg(not(all(target_arch = "x86_64", debug_assertions, not(miri))))]
        {
            let counter = &self.0[COUNTER];
            counter.store(counter.load(Relaxed).wrapping_add(1), Relaxed);
        }
    }

    /// Adds to a counter, by a single instruction as well.
    #[inline(always)]
    pub(crate) fn add(&self, counter: usize, count: u64) {
        let counter = &self.0[counter];
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: as above.
        unsafe {
            core::arch::asm!("add qword ptr [{}], {}", in(reg) counter.as_ptr(), in(reg) count, options(nostack));
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        counter.store(counter.load(Relaxed).wrapping_add(count), Relaxed);
    }
}

/// The values of a row's counters.
pub(crate) type Counts = [u64; Row::COUNTERS];

/// The rows of a thread, by callsite number.
///
/// An array that has become too short stays, and its counts are part of the sums: a signal handler may have interrupted a probe that is about
/// to count in it.
#[derive(Debug, Default)]
pub(crate) struct Rows(Vec<Box<[Row]>>);

impl Rows {
    /// The array in use; empty before the first call.
    pub(crate) fn current(&self) -> &[Row] {
        self.0.last().map_or(&[], |rows| rows)
    }

    /// Makes room for this many callsites.
    pub(crate) fn reserve(&mut self, callsites: usize) {
        if self.current().len() < callsites {
            let rows = (0..callsites.next_power_of_two().max(16)).map(|_| Row::default());
            self.0.push(rows.collect());
        }
    }

    /// The counts of each callsite.
    pub(crate) fn read(&self) -> Vec<Counts> {
        let mut counts = vec![Counts::default(); self.current().len()];
        for rows in &self.0 {
            let counters = rows.iter().flat_map(|row| &row.0);
            for (sum, counter) in counts.as_flattened_mut().iter_mut().zip(counters) {
                *sum = sum.wrapping_add(counter.load(Relaxed));
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_survive_growth() {
        let mut rows = Rows::default();
        assert!(rows.current().is_empty() && rows.read().is_empty());
        rows.reserve(3);
        rows.current()[2].add(Row::CALLS, 5);
        let old: *const Row = &raw const rows.current()[2];
        rows.reserve(100);
        rows.current()[2].add(Row::CALLS, 1);
        rows.current()[99].add(Row::UNITS, 7);
        // SAFETY: old arrays stay.
        unsafe { &*old }.add(Row::CALLS, 10);
        let counts = rows.read();
        assert_eq!(counts[2][Row::CALLS], 16);
        assert_eq!(counts[99][Row::UNITS], 7);
        rows.reserve(50);
        assert_eq!(rows.current().len(), 128);
    }
}
