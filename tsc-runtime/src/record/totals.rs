//! What all threads' records of one callsite come to.

use crate::record::histogram::Histogram;
use crate::record::{not_below_zero, square};

/// Sums over threads. Ticks are gross here (see [`Record`](crate::record::Record)): the report takes the visible overhead out of
/// them, with what it has measured by then.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) threads: u64,
    pub(crate) running: u64,
    /// Over all calls: what nested probes cost them, and the net ticks of annotated callees.
    pub(crate) nested: i64,
    pub(crate) callees: i64,
    /// What of `nested`, less `inner_nested`, registrations and reports took.
    pub(crate) registration_costs: i64,
    /// The part of calls inside other calls of the same callsite.
    pub(crate) inner: u64,
    pub(crate) inner_gross: i64,
    pub(crate) inner_nested: i64,
    /// Over the calls that are samples: not a thread's first, not interrupted, no anomaly.
    pub(crate) samples: u64,
    pub(crate) sum: i64,
    pub(crate) squares: u128,
    pub(crate) min: Option<i64>,
    pub(crate) max: Option<i64>,
    pub(crate) histogram: Histogram,
    /// Each thread's first call.
    pub(crate) firsts: u64,
    pub(crate) first_sum: i64,
    /// The first call of the process: its registration's number and its ticks.
    pub(crate) first: Option<(u64, i64)>,
    /// Of those, interrupted.
    pub(crate) firsts_interrupted: u64,
    pub(crate) interrupted: u64,
    pub(crate) interrupted_sum: i64,
    pub(crate) interrupted_histogram: Histogram,
    pub(crate) anomalies: u64,
    /// Samples of which nobody knows whether they were interrupted.
    pub(crate) unknown: u64,
    pub(crate) units: u64,
    /// Of async functions. The ticks of polls are also in the samples, once a future completes.
    pub(crate) polls: u64,
    pub(crate) polls_gross: i64,
    pub(crate) wall: u64,
    pub(crate) cancelled: u64,
}

impl Totals {
    /// All calls that have returned.
    pub(crate) fn calls(&self) -> u64 {
        self.samples + self.firsts + self.interrupted + self.anomalies
    }

    /// How often a probe's visible overhead is in the gross ticks: once a call, or once a poll.
    pub(crate) fn probes(&self) -> u64 {
        match self.polls {
            0 => self.calls() - self.anomalies,
            polls => polls,
        }
    }

    /// The gross ticks of all calls, or of all polls: futures that are suspended or were dropped took theirs as well.
    pub(crate) fn gross(&self) -> i64 {
        if self.polls != 0 {
            return self.polls_gross;
        }
        self.sum
            .wrapping_add(self.first_sum)
            .wrapping_add(self.interrupted_sum)
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        let counts = [
            (&mut self.threads, other.threads),
            (&mut self.running, other.running),
            (&mut self.inner, other.inner),
            (&mut self.samples, other.samples),
            (&mut self.firsts, other.firsts),
            (&mut self.firsts_interrupted, other.firsts_interrupted),
            (&mut self.interrupted, other.interrupted),
            (&mut self.anomalies, other.anomalies),
            (&mut self.unknown, other.unknown),
            (&mut self.units, other.units),
            (&mut self.polls, other.polls),
            (&mut self.wall, other.wall),
            (&mut self.cancelled, other.cancelled),
        ];
        for (count, part) in counts {
            *count = count.wrapping_add(part);
        }
        let sums = [
            (&mut self.nested, other.nested),
            (&mut self.callees, other.callees),
            (&mut self.registration_costs, other.registration_costs),
            (&mut self.inner_gross, other.inner_gross),
            (&mut self.inner_nested, other.inner_nested),
            (&mut self.sum, other.sum),
            (&mut self.polls_gross, other.polls_gross),
            (&mut self.first_sum, other.first_sum),
            (&mut self.interrupted_sum, other.interrupted_sum),
        ];
        for (sum, part) in sums {
            *sum = sum.wrapping_add(part);
        }
        self.squares = self.squares.wrapping_add(other.squares);
        self.min = merge_option(self.min, other.min, i64::min);
        self.max = merge_option(self.max, other.max, i64::max);
        self.first = merge_option(self.first, other.first, <(u64, i64)>::min);
        self.histogram.merge(&other.histogram);
        self.interrupted_histogram
            .merge(&other.interrupted_histogram);
    }

    /// Counts one more sample, as folding it into a record would have.
    pub(crate) fn add_sample(&mut self, sample: i64) {
        self.samples += 1;
        self.sum = self.sum.wrapping_add(sample);
        self.squares = self.squares.wrapping_add(square(sample));
        self.min = merge_option(self.min, Some(sample), i64::min);
        self.max = merge_option(self.max, Some(sample), i64::max);
        self.histogram.add_value(not_below_zero(sample));
    }
}

fn merge_option<T>(one: Option<T>, other: Option<T>, choose: fn(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(choose(one, other)),
        (one, other) => one.or(other),
    }
}
