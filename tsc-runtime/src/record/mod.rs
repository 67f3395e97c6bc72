//! One thread's figures for one callsite.
//!
//! Written by its thread alone, with plain (relaxed) loads and stores: no `lock` prefix, no line shared between writers. Other
//! threads read it; the sequence number tells them whether what they read belongs together.
//!
//! A stop only holds its sample; the statistics are brought up to date by [`fold`], and read by [`read`].

#![cfg(feature = "on")]

use core::cell::Cell;
use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Relaxed, Release},
    fence,
};

use crate::record::atomic_histogram::AtomicHistogram;
use crate::record::histogram::{BucketIndex, OCTAVES, SHORT, bucket};
use crate::record::table::Entry;

pub(crate) mod atomic_histogram;
mod batch;
pub(crate) mod callsite;
mod fold;
pub(crate) mod histogram;
mod read;
pub(crate) mod table;
pub(crate) mod thread;
pub(crate) mod totals;

/// Samples that a record holds before it folds them.
pub(crate) const BUFFER_LEN: usize = 64;
/// Samples from here on (3 ms at 2.6 GHz) are not buffered but folded one by one: so 32 bits have room for the sum of all that are buffered.
const BUFFERED_BELOW: u64 = SHORT;
const _: () = assert!((BUFFERED_BELOW - 1) * BUFFER_LEN as u64 <= u32::MAX as u64);

/// A number that one thread writes and others may read.
#[derive(Debug)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    const fn new(value: u64) -> Self {
        Self(AtomicU64::new(value))
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    #[inline(always)]
    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    /// Wrapping, so that signed sums may pass through zero.
    #[inline(always)]
    fn add(&self, value: u64) {
        self.set(self.get().wrapping_add(value));
    }

    fn signed(&self) -> i64 {
        self.get().cast_signed()
    }
}

/// In `buffered`: the first call on this thread is still to come or running.
const NEW: u32 = u32::MAX;

/// The fields in the order in which a stop touches them. Ticks are gross: stop − start less what nested probes cost, the
/// callsite's own visible overhead inside. They are signed, since the cost of nested probes is known on average only.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Record {
    /// Where the thread's table has this record.
    entry: *const Entry,
    /// How many samples are buffered, or [`NEW`].
    buffered: AtomicU32,
    /// What an empty probe of this callsite sees of itself, rounded, in ticks.
    pub(crate) visible: Counter,
    /// What a probe of this callsite costs its callers, rounded, in ticks.
    pub(crate) cost: Counter,
    /// What it costs them more when other probes are nested in it.
    pub(crate) nesting: Counter,
    buffer: [AtomicU32; BUFFER_LEN],
    /// Over all calls: what nested probes cost them, and the net ticks of annotated callees.
    nested: Counter,
    callees: Counter,

    /// Odd while what follows is being written.
    sequence: AtomicU32,
    /// The callsite's number.
    pub(crate) id: u32,
    /// The registration's number: the lowest has the first call of the process.
    order: u64,
    /// The activations inside others of the same callsite, which the inclusive total leaves out.
    inner: Counter,
    inner_gross: Counter,
    inner_nested: Counter,
    /// What the folded samples come to.
    samples: Counter,
    sum: Counter,
    squares_low: Counter,
    squares_high: Counter,
    min: Counter,
    max: Counter,
    buckets: AtomicHistogram,
    /// Where the buckets begin that most samples fall in, as far as is known. For the record's own thread alone.
    window: Cell<BucketIndex>,

    /// The calls that are no samples. `firsts` is 1 once the first call has returned.
    first: Counter,
    firsts: Counter,
    /// 1 if that call was interrupted.
    first_interrupted: Counter,
    interrupted: Counter,
    interrupted_sum: Counter,
    anomalies: Counter,
    /// Samples that may have been interrupted, for all that is known.
    unknown: Counter,
    /// Bytes or items that calls said they work on.
    units: Counter,
    /// Of async functions: polls and their ticks, which the samples only have once a future completes; ticks from the first poll to
    /// completion; futures dropped before completion.
    polls: Counter,
    polls_gross: Counter,
    wall: Counter,
    cancelled: Counter,
    /// What of `nested` registrations and reports took, in activations inside no other of the same callsite.
    registration_costs: Counter,
    interrupted_octaves: [AtomicU32; OCTAVES],
}

/// "Typical" in the documentation of the memory needed: what a record takes until more octaves are seen than it has room for.
const _: () = assert!(size_of::<Record>() <= 2048);

/// Why a call is no ordinary sample; of two reasons the later one here holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exclusion {
    /// A sample, but nobody knows whether it was interrupted.
    Unknown,
    Interrupted,
    /// Its ticks are negative: they are in no sum.
    Anomalous,
}

impl Record {
    /// # Safety
    ///
    /// `entry` outlives the record.
    pub(crate) const unsafe fn new(id: u32, order: u64, entry: *const Entry) -> Self {
        Self {
            entry,
            buffered: AtomicU32::new(NEW),
            visible: Counter::new(0),
            cost: Counter::new(0),
            nesting: Counter::new(0),
            buffer: [const { AtomicU32::new(0) }; BUFFER_LEN],
            nested: Counter::new(0),
            callees: Counter::new(0),
            sequence: AtomicU32::new(0),
            id,
            order,
            inner: Counter::new(0),
            inner_gross: Counter::new(0),
            inner_nested: Counter::new(0),
            samples: Counter::new(0),
            sum: Counter::new(0),
            squares_low: Counter::new(0),
            squares_high: Counter::new(0),
            min: Counter::new(i64::MAX.cast_unsigned()),
            max: Counter::new(i64::MIN.cast_unsigned()),
            buckets: AtomicHistogram::new(),
            window: Cell::new(BucketIndex::of(0)),
            first: Counter::new(0),
            firsts: Counter::new(0),
            first_interrupted: Counter::new(0),
            interrupted: Counter::new(0),
            interrupted_sum: Counter::new(0),
            anomalies: Counter::new(0),
            unknown: Counter::new(0),
            units: Counter::new(0),
            polls: Counter::new(0),
            polls_gross: Counter::new(0),
            wall: Counter::new(0),
            cancelled: Counter::new(0),
            registration_costs: Counter::new(0),
            interrupted_octaves: [const { AtomicU32::new(0) }; OCTAVES],
        }
    }

    /// Where the thread's table has this record.
    #[inline(always)]
    pub(crate) fn entry(&self) -> &Entry {
        // SAFETY: `new` was told that it lives as long as the record.
        unsafe { &*self.entry }
    }

    /// An activation stops that had others nested in it: their probes' cost, and the net ticks of annotated callees.
    #[inline(always)]
    pub(crate) fn add_nested(&self, nested: u64, callees: u64) {
        self.nested.add(nested);
        self.callees.add(callees);
    }

    /// An activation is about to stop in which registrations and reports took so many ticks.
    pub(crate) fn add_registration_cost(&self, ticks: u64) {
        if self.entry().depth() == 1 {
            self.registration_costs.add(ticks);
        }
    }

    /// An activation stops, and is an ordinary sample: its gross ticks, and what nested probes cost it.
    #[inline(always)]
    pub(crate) fn leave(&self, gross: u64, nested: u64) {
        self.add_inner(self.entry().leave(), gross, nested);
        self.add_sample(gross);
    }

    #[inline(always)]
    fn add_sample(&self, gross: u64) {
        let buffered = self.buffered.load(Relaxed);
        match self.buffer.get(buffered as usize) {
            Some(sample) if !is_long(gross) => {
                sample.store(gross as u32, Relaxed);
                self.buffered.store(buffered + 1, Release);
            }
            _ => self.add_slowly(gross),
        }
    }

    #[inline(always)]
    fn add_inner(&self, is_inner: bool, gross: u64, nested: u64) {
        if is_inner {
            self.inner.add(1);
            self.inner_gross.add(gross);
            self.inner_nested.add(nested);
        }
    }

    /// The first call on this thread has returned. Of a recursion that is the outermost call.
    fn leave_first(&self, gross: u64, interrupted: bool) {
        self.open();
        self.first_interrupted.set(u64::from(interrupted));
        self.first.set(gross);
        self.firsts.set(1);
        self.buffered.store(0, Relaxed);
        self.close();
    }

    /// An activation stops that is no ordinary sample.
    pub(crate) fn record_excluded(&self, why: Exclusion, gross: u64, nested: u64) {
        self.add_inner(self.entry().leave(), gross, nested);
        self.add_excluded(why, gross);
    }

    fn add_excluded(&self, why: Exclusion, gross: u64) {
        match why {
            Exclusion::Unknown => {
                self.unknown.add(1);
                self.add_sample(gross);
            }
            Exclusion::Anomalous => self.anomalies.add(1),
            Exclusion::Interrupted if self.is_new() && !self.is_running() => {
                self.leave_first(gross, true);
            }
            Exclusion::Interrupted => {
                self.open();
                self.interrupted.add(1);
                self.interrupted_sum.add(gross);
                let (octave, _) = bucket(not_below_zero(gross.cast_signed()));
                let count = &self.interrupted_octaves[octave];
                count.store(count.load(Relaxed).saturating_add(1), Relaxed);
                self.close();
            }
        }
    }

    /// Writing begins: readers will look again.
    fn open(&self) {
        self.sequence
            .store(self.sequence.load(Relaxed).wrapping_add(1), Relaxed);
        fence(Release);
    }

    /// Writing has ended.
    fn close(&self) {
        self.sequence
            .store(self.sequence.load(Relaxed).wrapping_add(1), Release);
    }

    /// A call says how many bytes or items it works on.
    pub(crate) fn add_units(&self, units: u64) {
        self.units.add(units);
    }

    /// A poll of a future stops.
    pub(crate) fn leave_poll(&self, gross: u64, nested: u64) {
        self.add_inner(self.entry().leave(), gross, nested);
        self.polls.add(1);
        self.polls_gross.add(gross);
    }

    /// A future has completed, with the gross ticks of all its polls.
    pub(crate) fn complete(&self, unusual: Option<Exclusion>, gross: u64, wall: u64) {
        self.wall.add(wall);
        match unusual {
            None => self.add_sample(gross),
            Some(why) => self.add_excluded(why, gross),
        }
    }

    /// A future was dropped that had not completed.
    pub(crate) fn cancel(&self) {
        self.cancelled.add(1);
    }

    /// Whether the first call on this thread is still to be recorded.
    fn is_new(&self) -> bool {
        self.buffered.load(Relaxed) == NEW
    }

    pub(crate) fn is_running(&self) -> bool {
        self.entry().depth() != 0
    }
}

/// Whether a sample is too long to be buffered; a negative one is, too.
#[inline(always)]
pub(crate) const fn is_long(gross: u64) -> bool {
    gross >= BUFFERED_BELOW
}

/// What a histogram counts a signed number of ticks as.
pub(crate) const fn not_below_zero(ticks: i64) -> u64 {
    if ticks < 0 { 0 } else { ticks.cast_unsigned() }
}

/// Exact: no sample is so large that its square needs 128 bits signed.
#[inline(always)]
pub(crate) fn square(sample: i64) -> u128 {
    (i128::from(sample) * i128::from(sample)).cast_unsigned()
}
