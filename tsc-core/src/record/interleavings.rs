//! A thread that records while another reads: `.ci/more/interleavings` runs this.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use shuttle::thread::spawn;

use super::table::Table;
use super::*;
use crate::sync::check::check;
use tsc_report::Bucket;

/// A table with one record.
struct Shared(Table);

// SAFETY: one thread records and the other one only reads, as a thread and those that make reports do.
unsafe impl Sync for Shared {}

impl Shared {
    fn new() -> Self {
        let mut table = Table::new();
        // SAFETY: the table drops the record before the entry.
        let made = table.record(1, |entry, _| unsafe { Record::new(1, 1, entry) });
        made.unwrap();
        Self(table)
    }

    fn record(&self) -> &Record {
        self.0.records().next().unwrap()
    }

    /// The call of this number: ordinary ones, of which each takes a tick more than the last, one that was interrupted and is left out,
    /// one that was and is repaired, and one that is too long to be buffered.
    fn call(&self, number: usize) {
        let record = self.record();
        record.entry().enter();
        let gross = number as u64 + 1;
        let interrupted = |wall, is_repaired| {
            record.end_activation(gross, 0);
            record.add_call(Some(Exclusion::Interrupted), gross, wall, is_repaired);
        };
        match number {
            62 => interrupted(500, false),
            63 => interrupted(700, true),
            67 => record.leave(BUFFERED_BELOW, 0),
            _ => record.leave(gross, 0),
        }
    }

    fn read(&self, is_own: bool) -> State {
        let totals = self.record().totals(is_own);
        let sums = &totals.sums;
        State {
            firsts: sums.firsts,
            samples: sums.samples,
            sum: sums.sum,
            squares: sums.squares.get(),
            extremes: (sums.min, sums.max),
            repaired: sums.repaired,
            excluded: (sums.excluded, sums.excluded_sum),
            histogram: totals.histogram,
            sides: totals.sides,
        }
    }
}

/// What a fold or an interrupted call writes.
#[derive(Debug, PartialEq)]
struct State {
    firsts: u64,
    samples: u64,
    sum: i64,
    squares: u128,
    extremes: (Option<i64>, Option<i64>),
    repaired: u64,
    excluded: (u64, i64),
    histogram: Vec<Bucket>,
    sides: [Vec<Bucket>; 3],
}

/// The buffer is full after a first call, two that are interrupted, and so many others.
const CALLS: usize = 3 + BUFFER_LEN + 5;
/// Before the other thread reads.
const BEFORE: usize = 60;

#[test]
fn every_read_is_a_state_that_existed() {
    check(
        || {},
        || {
            let alone = Shared::new();
            let mut states = vec![alone.read(true)];
            for number in 0..CALLS {
                alone.call(number);
                states.push(alone.read(true));
            }

            let record = Arc::new(Shared::new());
            (0..BEFORE).for_each(|number| record.call(number));
            let (started, returned) = (AtomicUsize::new(BEFORE), AtomicUsize::new(BEFORE));
            let known = Arc::new((started, returned));
            let thread = {
                let (record, known) = (Arc::clone(&record), Arc::clone(&known));
                spawn(move || {
                    for number in BEFORE..CALLS {
                        known.0.fetch_add(1, SeqCst);
                        record.call(number);
                        known.1.fetch_add(1, SeqCst);
                    }
                })
            };
            for _ in 0..2 {
                let returned = known.1.load(SeqCst);
                let read = record.read(false);
                let started = known.0.load(SeqCst);
                assert!(
                    states[returned..=started].contains(&read),
                    "after {returned} to {started} calls: {read:?}"
                );
            }
            thread.join().expect("it has not panicked");
            assert_eq!(Some(&record.read(false)), states.last());
        },
    );
}
