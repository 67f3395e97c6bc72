//! Reading a record, on its own thread or another, and discarding what it holds.

use std::time::Duration;

use super::counters::Cell;
use super::side_histograms::Side;
use super::{BUFFER_LEN, NEW, Record};
use crate::record::histogram::least;
use crate::record::totals::Totals;
use crate::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed},
};
use crate::sync::{sleep, spin_loop};

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
        let buffered_sum: i64 = buffered
            .iter()
            .map(|sample| i64::from(sample.load(Relaxed)))
            .sum();
        (
            self.counters.samples.get() + buffered.len() as u64,
            self.counters.sum.get().wrapping_add(buffered_sum),
        )
    }

    fn buffered(&self) -> &[AtomicU32] {
        match self.buffered.load(Acquire) {
            NEW => &[],
            buffered => &self.buffer[..(buffered as usize).min(BUFFER_LEN)],
        }
    }

    /// Discards what the record held at the time of `earlier`. What remains is the running activations and the calls that have stopped
    /// since. For the record's own thread, in the cold path. Neither allocates nor frees.
    pub(crate) fn take_off(&self, earlier: &Totals) {
        self.open();
        if !self.is_new() {
            let buffered = self.buffered.swap(0, Relaxed);
            for sample in &self.buffer[..(buffered as usize).min(BUFFER_LEN)] {
                self.fold_one(i64::from(sample.load(Relaxed)));
            }
        }
        self.counters.take_off(earlier);
        for (octave, sub, count) in earlier.histogram.buckets() {
            let repaired = earlier.repaired_histogram.count_in(octave, sub);
            self.buckets
                .take_off(octave, sub, count.saturating_sub(repaired));
        }
        for (side, histogram) in [
            (Side::Repaired, &earlier.repaired_histogram),
            (Side::Excluded, &earlier.excluded_histogram),
            (Side::Wall, &earlier.side_wall_histogram),
        ] {
            for (octave, sub, count) in histogram.buckets() {
                self.side.take_off(side, octave, sub, count);
            }
        }
        self.take_off_extremes(earlier);
        self.take_slowest_off(&earlier.slowest);
        self.close();
    }

    /// If there are several samples, extremes that are not new are only known to their bucket.
    fn take_off_extremes(&self, earlier: &Totals) {
        let new = |now: Option<i64>, then| Some(now).filter(|_| now != then);
        let in_buckets = || {
            self.buckets
                .full_buckets()
                .chain(self.side.full_buckets(Side::Repaired))
        };
        let least_in = |(octave, sub): (usize, usize)| least(octave, sub).cast_signed();
        let counters = &self.counters;
        let (min, max) = match counters.samples.get() {
            0 => (None, None),
            1 => (Some(counters.sum.get()), Some(counters.sum.get())),
            _ => (
                new(counters.min.read(), earlier.min)
                    .unwrap_or_else(|| in_buckets().min().map(least_in)),
                new(counters.max.read(), earlier.max)
                    .unwrap_or_else(|| in_buckets().max().map(least_in)),
            ),
        };
        counters.min.set(min);
        counters.max.set(max);
        let walls = self.side.full_buckets(Side::Wall).max().map(least_in);
        let wall_max = new(counters.wall_max.read(), earlier.wall_max);
        counters
            .wall_max
            .set(wall_max.unwrap_or(walls).filter(|_| walls.is_some()));
    }

    /// The contents of the record; see [`read`](Self::read).
    pub(crate) fn totals(&self, is_own: bool) -> Totals {
        let mut totals = Totals::default();
        self.read(&mut totals, is_own);
        totals
    }

    /// Adds the contents of the record to `totals`. Values that a fold writes are consistent, unless the thread folds all the time. If a
    /// call stops meanwhile, some sums may include it and others not. `is_own` is whether this is the current thread's record.
    pub(crate) fn read(&self, totals: &mut Totals, is_own: bool) {
        let mut figures = Totals::default();
        let attempts = if is_own { OWN_ATTEMPTS } else { READ_ATTEMPTS };
        for attempt in 0..attempts {
            let before = self.sequence.begin_read();
            figures = self.figures();
            if self.sequence.is_whole(before) {
                break;
            }
            if is_own || attempt < ATTEMPTS_AT_ONCE {
                spin_loop();
            } else {
                sleep(REST);
            }
        }
        totals.merge(&figures);
        self.buckets.read(&mut totals.histogram);
        // Repaired calls are samples, too.
        self.side.read(Side::Repaired, &mut totals.histogram);
        self.side
            .read(Side::Repaired, &mut totals.repaired_histogram);
        self.side
            .read(Side::Excluded, &mut totals.excluded_histogram);
        self.side.read(Side::Wall, &mut totals.side_wall_histogram);
    }

    /// The visible overhead of the probes: for each of them a whole number of ticks, the one that was subtracted from the thread's sums.
    fn add_visible(&self, totals: &mut Totals) {
        let visible = self.visible.get().cast_signed();
        totals.visible = visible.wrapping_mul(totals.probes().cast_signed());
        totals.inner_visible = visible.wrapping_mul(totals.inner.cast_signed());
    }

    /// Everything except the buckets, including the buffered samples.
    fn figures(&self) -> Totals {
        let mut totals = self.counters.read();
        totals.running = u64::from(self.entry().depth());
        totals.first = (totals.firsts != 0).then_some((self.order, totals.first_sum));
        for sample in self.buffered() {
            totals.add_sample(i64::from(sample.load(Relaxed)));
        }
        self.add_visible(&mut totals);
        totals.slowest = self.read_slowest();
        totals.threads = u64::from(totals.calls() + totals.polls != 0);
        totals
    }
}
