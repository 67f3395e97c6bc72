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

    /// Divides time on the CPU as the ticks since the last time that figures were taken. What ran only before, such as the functions of the
    /// parent of a fork, gets nothing.
    pub(crate) fn divide(&self, on_cpu: i64) {
        self.paths.divide(on_cpu, &self.taken.paths);
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

    #[test]
    fn what_ran_only_in_the_parent_of_a_fork_gets_no_part() {
        let paths = Arc::new(Paths::new().unwrap());
        let [parents, own] = [0, 1].map(|of| paths.child(super::super::ROOT, of, None));
        paths.add(parents, &PathSums::tick(1000, 0));
        let mut record = LightRecord::new(Some(Arc::clone(&paths))).unwrap();
        paths.add(own, &PathSums::tick(10, 0));
        record.divide(100);
        let sums = record.rest(false).paths;
        let on_cpu: Vec<i64> = sums.iter().map(|of| of.sums.on_cpu).collect();
        assert_eq!(on_cpu[parents.0 as usize..], [0, 110]);
    }
}
