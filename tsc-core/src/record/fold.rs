//! Updates a record's statistics.
//!
//! Adding a sample to the statistics (minimum, maximum, squares, its bucket) takes more instructions than everything else that a probe
//! does. So a stop only buffers its sample, and the stop that fills the buffer folds all of them at once. A reader folds the buffered
//! samples for itself.

use core::sync::atomic::Ordering::Relaxed;

use super::{BUFFER_LEN, NEW, Record, is_long, not_below_zero, square};
use crate::record::histogram::BucketIndex;

impl Record {
    /// Records a sample that cannot be buffered, because the buffer is full, the sample is too long, or the first call on this thread has
    /// not returned yet. `extern "C"`, so that a caller in tail position needs no frame for unwinding.
    #[inline(never)]
    pub(super) extern "C" fn add_slowly(&self, gross: u64) {
        let buffered = self.buffered.load(Relaxed);
        if buffered == NEW && !self.is_running() {
            return self.leave_first(gross, false);
        }
        if buffered != NEW && buffered as usize >= BUFFER_LEN {
            self.fold();
        }
        if buffered == NEW || is_long(gross) {
            self.fold_one(gross.cast_signed());
        } else {
            self.add_sample(gross);
        }
    }

    /// Adds the buffered samples to the statistics. The buffer is full, and none of the samples is long. If a signal handler has come in
    /// between, there may be more samples than places; the additional ones count like the last one.
    fn fold(&self) {
        // SAFETY: only this thread writes them; the types have the same layout.
        let samples = unsafe { (&raw const self.buffer).cast::<[u32; BUFFER_LEN]>().read() };
        self.sequence.open();
        // From here on there is room, also for the calls of a signal handler. If there already is, a signal handler has folded these
        // samples.
        let count = &self.buffered;
        let buffered = count.load(Relaxed);
        let make_room = || count.compare_exchange(buffered, 0, Relaxed, Relaxed);
        if (buffered as usize) < BUFFER_LEN || make_room().is_err() {
            return self.sequence.close();
        }
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 has SSE2.
        unsafe {
            self.add_batch(&samples);
        }
        #[cfg(not(target_arch = "x86_64"))]
        for &sample in &samples {
            self.add_to_statistics(i64::from(sample));
            self.buckets.count_one(BucketIndex::of_short(sample));
        }
        self.sequence.close();
        for _ in BUFFER_LEN as u32..buffered {
            self.fold_one(i64::from(samples[BUFFER_LEN - 1]));
        }
    }

    /// Adds one sample of any length, also a negative one.
    pub(super) fn fold_one(&self, sample: i64) {
        self.sequence.open();
        self.add_to_statistics(sample);
        self.buckets
            .count_one(BucketIndex::of(not_below_zero(sample)));
        self.sequence.close();
    }

    /// All but its bucket. To be called within a write.
    pub(super) fn add_to_statistics(&self, sample: i64) {
        self.add_sums(1, sample, square(sample));
        self.add_extremes(sample);
    }

    pub(super) fn add_sums(&self, samples: u64, sum: i64, squares: u128) {
        self.counters.samples.add(samples);
        self.counters.sum.add(sum);
        self.counters.squares.add(squares);
    }

    pub(super) fn add_extremes(&self, sample: i64) {
        self.counters.min.add(sample);
        self.counters.max.add(sample);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Exclusion;
    use super::*;
    use crate::record::table::Entry;
    use crate::record::totals::Totals;
    use tsc_report::{Bucket, FirstCall};

    /// The figures of a record after calls of these gross ticks.
    fn recorded(calls: impl IntoIterator<Item = (Option<Exclusion>, i64)>) -> Totals {
        let entry = Box::new(Entry::new());
        // SAFETY: the entry is dropped after the record.
        let record = Box::new(unsafe { Record::new(1, 1, &raw const *entry) });
        for (unusual, gross) in calls {
            entry.enter();
            record.end_activation(gross.cast_unsigned(), 0);
            record.add_call(unusual, gross.cast_unsigned(), 5_000, gross > 2_000);
        }
        record.totals(true)
    }

    /// The figures if each sample is added to the totals directly.
    fn summed(samples: &[i64]) -> Totals {
        let mut totals = Totals::default();
        totals.add_samples(samples.iter().copied());
        totals
    }

    fn count(histogram: &[Bucket]) -> u64 {
        histogram.iter().map(|bucket| bucket.calls).sum()
    }

    #[test]
    fn batches_come_to_what_their_samples_do() {
        for samples in [
            // Samples in the window; just outside it on either side; in all octaves, twice; too long and negative.
            (0..200).map(|n| 90 + n % 7).collect::<Vec<i64>>(),
            (0..200).map(|n| 70 + 40 * (n % 2)).collect(),
            (0..1000).map(|n| (n * n * n) % 8_388_608).collect(),
            (0..if cfg!(miri) { 320 } else { 32_000 })
                .map(|n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15))
                .map(|random| (random >> 41 >> (random % 24)).cast_signed())
                .collect(),
            (0..300)
                .map(|n| if n % 50 == 0 { 1 << 40 } else { n - 100 })
                .collect(),
        ] {
            let record = recorded([5].iter().chain(&samples).map(|&gross| (None, gross)));
            let expected = summed(&samples);
            assert_eq!(
                record.sums.first,
                Some(FirstCall {
                    process_started_ns: 1,
                    ticks: 5
                })
            );
            assert_eq!(
                (record.sums.samples, record.sums.sum, record.sums.squares),
                (
                    expected.sums.samples,
                    expected.sums.sum,
                    expected.sums.squares
                )
            );
            assert_eq!(
                (record.sums.min, record.sums.max),
                (expected.sums.min, expected.sums.max)
            );
            assert_eq!(record.histogram, expected.histogram);
        }
    }

    #[test]
    fn interrupted_call_leaves_the_held_samples() {
        let totals = recorded([
            (None, 10),
            (None, 20),
            (Some(Exclusion::Interrupted), 1000),
            (Some(Exclusion::Interrupted), 3000),
            (Some(Exclusion::Unknown), 30),
            (Some(Exclusion::Anomalous), 0),
        ]);
        assert_eq!(
            (totals.sums.firsts, totals.sums.samples, totals.sums.sum),
            (1, 3, 3050)
        );
        assert_eq!((totals.sums.excluded, totals.sums.excluded_sum), (1, 1000));
        assert_eq!((totals.sums.repaired, totals.sums.max), (1, Some(3000)));
        assert_eq!(count(&totals.histogram), 3);
        // Two calls that were not interrupted, and two that were.
        let wall = totals.wall_histogram();
        let calls = 2;
        let bucket = Bucket::of(5_000);
        assert_eq!(wall.last(), Some(&Bucket { calls, ..bucket }));
        assert_eq!(count(&wall), 4);
        assert_eq!((totals.sums.unknown, totals.sums.anomalies), (1, 1));
    }
}
