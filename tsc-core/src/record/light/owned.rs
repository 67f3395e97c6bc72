//! A thread's figures for its light probes, as the registry keeps them.

use std::sync::Arc;

use super::path_sums::PathSums;
use super::paths::{PathTotals, Paths};
use super::rows::Rows;
use crate::record::taken::rest;

/// The figures of one thread, and those that were taken.
#[derive(Debug)]
pub(crate) struct LightRecord {
    pub(crate) rows: Rows,
    /// The thread points to them.
    pub(crate) paths: Arc<Paths>,
    taken: LightSums,
}

/// The figures of a thread.
#[derive(Debug, Default)]
pub(crate) struct LightSums {
    /// The [`Counts`](super::Counts) of each callsite, by its number.
    pub(crate) counts: Vec<u64>,
    /// By place.
    pub(crate) paths: Vec<PathTotals<PathSums>>,
}

impl LightRecord {
    /// `None` if the system has no memory. What the parent of a fork has counted in `inherited` paths is not this process's.
    pub(crate) fn new(inherited: Option<Arc<Paths>>) -> Option<Self> {
        let mut record = Self {
            rows: Rows::new(),
            paths: inherited.or_else(|| Paths::new().map(Arc::new))?,
            taken: LightSums::default(),
        };
        record.rest(true);
        Some(record)
    }

    /// The figures that were not taken. With `takes`, they are taken from now on.
    pub(crate) fn rest(&mut self, takes: bool) -> LightSums {
        let counts = self.rows.read().into_flattened();
        LightSums {
            counts: rest(counts, &mut self.taken.counts, takes),
            paths: rest(self.paths.read(), &mut self.taken.paths, takes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Counts, Row};
    use super::*;

    #[test]
    fn every_figure_is_taken_once() {
        let mut record = LightRecord::new(None).unwrap();
        record.rows.reserve(3).unwrap();
        let call = |record: &LightRecord| {
            record.rows.row(2).add(Row::CALLS, 1);
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
        record.rows.reserve(100).unwrap();
        assert_eq!(calls(&record.rest(true)), (2, 200));
    }
}
