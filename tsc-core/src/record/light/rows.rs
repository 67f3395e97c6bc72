//! How often each light callsite was called on a thread.

use crate::record::counters::Count;
use crate::record::pages::Zeroed;
use crate::record::slices::Slices;

/// The counters of one callsite on one thread, which only this thread writes.
#[derive(Debug)]
#[repr(C, align(32))]
pub(crate) struct Row([Count; Row::COUNTERS]);

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
    /// The place of the row that all callsites use which are left out. Nobody reads it; so a call of them costs no more than one that is measured.
    pub(crate) const LEFT_OUT: u32 = 0;

    pub(crate) const fn new() -> Self {
        Self([const { Count::new() }; Self::COUNTERS])
    }

    /// The place of a callsite's row in the array of each thread, in bytes.
    pub(crate) const fn offset(number: u32) -> u32 {
        (number + 1) * size_of::<Self>() as u32
    }

    /// Adds 1 to a counter. An optimising compiler generates a single instruction for it anyway, and keeps more values in registers around it.
    #[inline(always)]
    pub(crate) fn count<const COUNTER: usize>(&self) {
        if cfg!(debug_assertions) {
            return self.add(COUNTER, 1);
        }
        let counter = &self.0[COUNTER];
        counter.set(counter.get().wrapping_add(1));
    }

    /// Adds to a counter. A signal handler that counts in the same row runs before or after it, not in between.
    #[inline(always)]
    pub(crate) fn add(&self, counter: usize, count: u64) {
        self.0[counter].add(count);
    }
}

/// The values of a row's counters.
pub(crate) type Counts = [u64; Row::COUNTERS];

// SAFETY: it consists of counters, which may be 0.
unsafe impl Zeroed for Row {}

/// The rows of a thread: that of the callsites that are left out, and the others by callsite number.
///
/// An array that has become too short stays, and its counts are part of the sums: a signal handler may have interrupted a probe that is about
/// to count in it.
#[derive(Debug)]
pub(crate) struct Rows(Slices<Row, 16>);

impl Rows {
    pub(crate) const fn new() -> Self {
        Self(Slices::new())
    }

    /// The array in use; empty before the first call.
    pub(crate) fn current(&self) -> &[Row] {
        self.0.last()
    }

    /// Makes room for this many callsites. `None` if the system has no more memory.
    pub(crate) fn reserve(&mut self, callsites: usize) -> Option<()> {
        while self.current().len() <= callsites {
            self.0.grow()?;
        }
        Some(())
    }

    /// The counts of each callsite.
    pub(crate) fn read(&self) -> Vec<Counts> {
        let mut counts = vec![Counts::default(); self.current().len().saturating_sub(1)];
        for rows in self.0.iter() {
            let counters = rows.iter().skip(1).flat_map(|row| &row.0);
            for (sum, counter) in counts.as_flattened_mut().iter_mut().zip(counters) {
                *sum = sum.wrapping_add(counter.get());
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Rows {
        /// That of a callsite.
        pub(crate) fn row(&self, number: u32) -> &Row {
            &self.current()[Row::offset(number) as usize / size_of::<Row>()]
        }
    }

    #[test]
    fn counts_survive_growth() {
        let mut rows = Rows::new();
        assert!(rows.current().is_empty() && rows.read().is_empty());
        rows.reserve(3).unwrap();
        rows.row(2).add(Row::CALLS, 5);
        let old: *const Row = &raw const *rows.row(2);
        rows.reserve(100).unwrap();
        rows.row(2).add(Row::CALLS, 1);
        rows.row(99).add(Row::UNITS, 7);
        rows.current()[0].add(Row::CALLS, 3);
        // SAFETY: old arrays stay.
        unsafe { &*old }.add(Row::CALLS, 10);
        let counts = rows.read();
        assert_eq!(counts[2][Row::CALLS], 16);
        assert_eq!(counts[99][Row::UNITS], 7);
        let all: u64 = counts.as_flattened().iter().sum();
        assert_eq!(all, 16 + 7);
        rows.reserve(50).unwrap();
        assert_eq!(rows.current().len(), 128);
    }
}
