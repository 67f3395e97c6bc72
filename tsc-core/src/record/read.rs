//! Reading a record, on its own thread or another, and discarding what it holds.

use std::time::Duration;

use super::side_histograms::Side;
use super::{BUFFER_LEN, NEW, Record};
use crate::record::counters::FigureCell;
use crate::record::totals::Totals;
use crate::sync::atomic::Ordering::{Acquire, Relaxed};
use crate::sync::{sleep, spin_loop};
use tsc_report::__private::Combine;
use tsc_report::FirstCall;

/// How often a reader reads again if the record was written meanwhile, before it takes the values as they are: first at once, then after a
/// pause, because the writer may have lost its CPU.
const READ_ATTEMPTS: u32 = 120;
const ATTEMPTS_AT_ONCE: u32 = 100;
/// The record's own thread need not read again: if it reads in a signal handler, the interrupted write does not continue meanwhile.
const OWN_ATTEMPTS: u32 = 1;
const REST: Duration = Duration::from_micros(200);

impl Record {
    /// The number of samples and their sum. For the record's own thread.
    pub(crate) fn samples(&self) -> (u64, i64) {
        let buffered = self.buffered();
        let samples = self.counters.samples.get() + buffered.len() as u64;
        let sum: i64 = buffered.sum();
        (samples, self.counters.sum.get().wrapping_add(sum))
    }

    fn buffered(&self) -> impl ExactSizeIterator<Item = i64> {
        let buffered = self.buffered.load(Acquire);
        self.first_buffered(if buffered == NEW { 0 } else { buffered })
    }

    /// The buffered samples, if there are so many.
    fn first_buffered(&self, buffered: u32) -> impl ExactSizeIterator<Item = i64> {
        let samples = &self.buffer[..(buffered as usize).min(BUFFER_LEN)];
        samples.iter().map(|sample| i64::from(sample.load(Relaxed)))
    }

    /// Forgets the extremes and the slowest calls of figures that were taken. Neither allocates nor frees. For the record's own thread.
    pub(crate) fn forget(&self, taken: &Totals) {
        if !self.is_new() {
            // The buffered samples may be the extremes.
            let buffered = self.first_buffered(self.buffered.swap(0, Relaxed));
            buffered.for_each(|sample| self.fold_one(sample));
        }
        self.counters.forget(&taken.sums);
        self.forget_slowest(&taken.slowest);
    }

    /// The contents of the record. Sums and histograms are consistent, unless the thread folds all the time. If a call stops meanwhile, some
    /// sums may include it and others not. `is_own` is whether this is the current thread's record.
    pub(crate) fn totals(&self, is_own: bool) -> Totals {
        let attempts = if is_own { OWN_ATTEMPTS } else { READ_ATTEMPTS };
        for attempt in 1..attempts {
            let before = self.sequence.begin_read();
            let totals = self.figures();
            if self.sequence.is_whole(before) {
                return totals;
            }
            if attempt < ATTEMPTS_AT_ONCE {
                spin_loop();
            } else {
                sleep(REST);
            }
        }
        self.figures()
    }

    /// Everything, including the buffered samples. The sums are read last, because they are written first: a histogram that is read
    /// during a write, as in a signal handler, has at most as many samples as the sums.
    fn figures(&self) -> Totals {
        let mut totals = Totals {
            histogram: self.buckets.read(),
            sides: self.side.read(),
            slowest: self.read_slowest(),
            sums: self.counters.read(),
        };
        // Repaired calls are samples, too.
        let repaired = &totals.sides[Side::Repaired as usize];
        totals.histogram.merge(repaired);
        totals.add_samples(self.buffered());
        let sums = &mut totals.sums;
        sums.running = u64::from(self.entry().depth());
        sums.first = (sums.firsts != 0).then_some(FirstCall {
            process_started_ns: self.order,
            ticks: sums.first_sum,
        });
        // For each probe a whole number of ticks, the one that was subtracted from the thread's sums.
        let visible = self.visible.get().wrapping_mul(1000);
        let milliticks = |probes: u64| visible.wrapping_mul(probes).cast_signed();
        sums.visible_milliticks = milliticks(sums.probes());
        sums.inner_visible_milliticks = milliticks(sums.inner);
        totals.count_thread();
        totals
    }
}
