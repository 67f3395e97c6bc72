//! Reads a record, on its own thread or on another; forgets what it holds.

use core::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed},
    fence,
};
use std::time::Duration;

use super::{BUFFER_LEN, Counter, NEW, Record};
use crate::record::totals::Totals;

/// How often a reader looks again when the record was written meanwhile, before it takes what it sees: at once, and then after a
/// rest, for the writer may have lost its CPU.
const READ_ATTEMPTS: u32 = 120;
const ATTEMPTS_AT_ONCE: u32 = 100;
const REST: Duration = Duration::from_micros(200);

impl Record {
    /// How many samples there are, and their sum. For the record's own thread.
    pub(crate) fn samples(&self) -> (u64, i64) {
        let buffered = self.buffered();
        let held_sum: i64 = buffered
            .iter()
            .map(|sample| i64::from(sample.load(Relaxed)))
            .sum();
        (
            self.samples.get() + buffered.len() as u64,
            self.sum.signed().wrapping_add(held_sum),
        )
    }

    fn buffered(&self) -> &[AtomicU32] {
        match self.buffered.load(Acquire) {
            NEW => &[],
            buffered => &self.buffer[..(buffered as usize).min(BUFFER_LEN)],
        }
    }

    /// Forgets all but the running activations. For the record's own thread.
    pub(crate) fn clear(&self) {
        // SAFETY: the entry outlives this record, and `fresh` does not.
        let fresh = unsafe { Self::new(self.id, self.order, self.entry) };
        self.open();
        if !self.is_new() {
            self.buffered.store(0, Relaxed);
        }
        for (figure, fresh) in self.statistics().iter().zip(fresh.statistics()) {
            figure.set(fresh.get());
        }
        self.interrupted_octaves
            .iter()
            .for_each(|count| count.store(0, Relaxed));
        self.buckets.clear();
        self.close();
    }

    fn statistics(&self) -> [&Counter; 24] {
        [
            &self.nested,
            &self.callees,
            &self.inner,
            &self.inner_gross,
            &self.inner_nested,
            &self.samples,
            &self.sum,
            &self.squares_low,
            &self.squares_high,
            &self.min,
            &self.max,
            &self.first,
            &self.firsts,
            &self.first_interrupted,
            &self.interrupted,
            &self.interrupted_sum,
            &self.anomalies,
            &self.unknown,
            &self.units,
            &self.polls,
            &self.polls_gross,
            &self.wall,
            &self.cancelled,
            &self.registration_costs,
        ]
    }

    /// Adds what the record holds to `totals`. What a fold writes is read together, unless the thread folds all the while; of a
    /// call that stops meanwhile, some sums may be read with it and some without.
    pub(crate) fn read(&self, totals: &mut Totals) {
        let mut figures = Totals::default();
        for attempt in 0..READ_ATTEMPTS {
            let before = self.sequence.load(Acquire);
            figures = self.figures();
            fence(Acquire);
            if before & 1 == 0 && self.sequence.load(Relaxed) == before {
                break;
            }
            if attempt < ATTEMPTS_AT_ONCE {
                core::hint::spin_loop();
            } else {
                std::thread::sleep(REST);
            }
        }
        totals.merge(&figures);
        self.buckets.read(&mut totals.histogram);
        if figures.interrupted != 0 {
            for (octave, count) in self.interrupted_octaves.iter().enumerate() {
                let count = u64::from(count.load(Relaxed));
                totals.interrupted_histogram.add(octave, 0, count);
            }
        }
    }

    /// All but the buckets; the buffered samples folded in.
    fn figures(&self) -> Totals {
        let samples = self.samples.get();
        let first = Some(self.first.signed()).filter(|_| self.firsts.get() != 0);
        let mut totals = Totals {
            running: u64::from(self.entry().depth()),
            nested: self.nested.signed(),
            callees: self.callees.signed(),
            inner: self.inner.get(),
            inner_gross: self.inner_gross.signed(),
            inner_nested: self.inner_nested.signed(),
            samples,
            sum: self.sum.signed(),
            squares: u128::from(self.squares_high.get()) << 64 | u128::from(self.squares_low.get()),
            min: Some(self.min.signed()).filter(|_| samples != 0),
            max: Some(self.max.signed()).filter(|_| samples != 0),
            firsts: u64::from(first.is_some()),
            first_sum: first.unwrap_or(0),
            first: first.map(|ticks| (self.order, ticks)),
            firsts_interrupted: self.first_interrupted.get(),
            interrupted: self.interrupted.get(),
            interrupted_sum: self.interrupted_sum.signed(),
            anomalies: self.anomalies.get(),
            unknown: self.unknown.get(),
            units: self.units.get(),
            polls: self.polls.get(),
            polls_gross: self.polls_gross.signed(),
            wall: self.wall.get(),
            cancelled: self.cancelled.get(),
            registration_costs: self.registration_costs.signed(),
            ..Totals::default()
        };
        for sample in self.buffered() {
            totals.add_sample(i64::from(sample.load(Relaxed)));
        }
        totals.threads = u64::from(totals.calls() + totals.polls != 0);
        totals
    }
}
