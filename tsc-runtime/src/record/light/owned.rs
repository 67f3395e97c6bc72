//! A thread's figures for its light probes, as the registry keeps them.

use super::path_sums::PathSums;
use super::paths::{PathTotals, Paths};
use super::rows::Rows;
use crate::record::taken::Taken;

/// The figures of one thread, and those that were taken.
#[derive(Debug)]
pub(crate) struct LightRecord {
    pub(crate) rows: Rows,
    /// In a box, because the thread points to it.
    pub(crate) paths: Box<Paths>,
    taken_counts: Taken<u64>,
    taken_paths: Taken<PathTotals<PathSums>>,
}

/// The figures of a thread.
#[derive(Debug)]
pub(crate) struct LightSums {
    /// The [`Counts`](super::Counts) of each callsite, by its number.
    pub(crate) counts: Vec<u64>,
    /// By place.
    pub(crate) paths: Vec<PathTotals<PathSums>>,
}

impl LightRecord {
    /// `None` if the system has no memory.
    pub(crate) fn new() -> Option<Self> {
        Some(Self {
            rows: Rows::default(),
            paths: Box::new(Paths::new()?),
            taken_counts: Taken::default(),
            taken_paths: Taken::default(),
        })
    }

    /// The figures that were not taken. With `takes`, they are taken from now on.
    pub(crate) fn rest(&mut self, takes: bool) -> LightSums {
        let counts = self.rows.read().into_flattened();
        LightSums {
            counts: self.taken_counts.rest(counts, takes),
            paths: self.taken_paths.rest(self.paths.read(), takes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Counts, Row};
    use super::*;

    #[test]
    fn every_figure_is_taken_once() {
        let mut record = LightRecord::new().unwrap();
        record.rows.reserve(3);
        let call = |record: &LightRecord| {
            record.rows.current()[2].add(Row::CALLS, 1);
            record.paths.add(
                super::super::ROOT,
                &crate::record::light::PathSums::tick(100, 0),
            );
        };
        let calls = |sums: &LightSums| {
            let counts = sums.counts.as_chunks().0;
            let counts: &Counts = &counts[2];
            (counts[Row::CALLS], sums.paths[0].sums.on_cpu)
        };
        call(&record);
        assert_eq!(calls(&record.rest(false)), (1, 100));
        assert_eq!(calls(&record.rest(true)), (1, 100));
        assert_eq!(calls(&record.rest(false)), (0, 0));
        call(&record);
        call(&record);
        record.rows.reserve(100);
        assert_eq!(calls(&record.rest(true)), (2, 200));
    }
}
