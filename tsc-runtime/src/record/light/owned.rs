//! A thread's figures for its light probes, as the registry keeps them.

use super::paths::{PathTotals, Paths};
use super::rows::{Counts, Rows};
use tsc_report::__private::Combine;

/// The figures of one thread, and those that were handed out.
///
/// Handing out figures does not change the counters, which only their thread writes. What was handed out is noted here, and subtracted.
#[derive(Debug)]
pub(crate) struct LightRecord {
    pub(crate) rows: Rows,
    /// In a box, because the thread points to it.
    pub(crate) paths: Box<Paths>,
    handed_out: LightSums,
}

/// The figures of a thread: by callsite number, and by place.
#[derive(Debug, Default)]
pub(crate) struct LightSums {
    pub(crate) counts: Vec<Counts>,
    pub(crate) paths: Vec<PathTotals>,
}

impl LightRecord {
    /// `None` if the system has no memory.
    pub(crate) fn new() -> Option<Self> {
        Some(Self {
            rows: Rows::default(),
            paths: Box::new(Paths::new()?),
            handed_out: LightSums::default(),
        })
    }

    /// The figures that were not handed out.
    pub(crate) fn rest(&self) -> LightSums {
        self.read().since(&self.handed_out)
    }

    /// The same. From now on they are handed out.
    pub(crate) fn hand_out(&mut self) -> LightSums {
        let now = self.read();
        let rest = now.since(&self.handed_out);
        self.handed_out = now;
        rest
    }

    fn read(&self) -> LightSums {
        LightSums {
            counts: self.rows.read(),
            paths: self.paths.read(),
        }
    }
}

impl LightSums {
    fn since(&self, earlier: &Self) -> Self {
        let mut since = Self {
            counts: self.counts.clone(),
            paths: self.paths.clone(),
        };
        let counts = since.counts.as_flattened_mut().iter_mut();
        for (count, earlier) in counts.zip(earlier.counts.as_flattened()) {
            count.since(earlier);
        }
        for (path, earlier) in since.paths.iter_mut().zip(&earlier.paths) {
            path.sums.since(&earlier.sums);
        }
        since
    }
}

#[cfg(test)]
mod tests {
    use super::super::Row;
    use super::*;

    #[test]
    fn every_figure_is_handed_out_once() {
        let mut record = LightRecord::new().unwrap();
        record.rows.reserve(3);
        let call = |record: &LightRecord| {
            record.rows.current()[2].add(Row::CALLS, 1);
            record.paths.add(
                super::super::ROOT,
                &crate::record::light::PathSums::tick(100, 0),
            );
        };
        let calls = |sums: &LightSums| (sums.counts[2][Row::CALLS], sums.paths[0].sums.on_cpu);
        call(&record);
        assert_eq!(calls(&record.rest()), (1, 100));
        assert_eq!(calls(&record.hand_out()), (1, 100));
        assert_eq!(calls(&record.rest()), (0, 0));
        call(&record);
        call(&record);
        record.rows.reserve(100);
        assert_eq!(calls(&record.hand_out()), (2, 200));
    }
}
