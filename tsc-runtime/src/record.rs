//! One thread's figures for one callsite.
//!
//! Written by its thread alone, with plain (relaxed) loads and stores: no `lock` prefix, no line shared between writers. Other
//! threads read it; the sequence number tells them whether what they read belongs together.
//!
//! # The samples that are held back
//!
//! What a sample adds to the statistics (minimum, maximum, squares, its bucket) takes more instructions than all else that a probe
//! does. So a stop only stores its sample, and every 32nd folds 32 of them, with the sums in registers. A reader folds for itself
//! what is still held.

use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};

use crate::buckets::Buckets;
use crate::histogram::{OCTAVES, bucket};
use crate::totals::Totals;

/// Samples that a record holds before it folds them.
const HELD: usize = 32;

/// How often a reader looks again when the record was written meanwhile, before it takes what it sees.
const READ_ATTEMPTS: u32 = 100;

/// A number that one thread writes and others may read.
#[derive(Debug)]
pub(crate) struct Figure(AtomicU64);

impl Figure {
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

/// In `held`: the first call on this thread is still to come or running.
const NEW: u32 = 1 << 31;

/// The fields in the order in which a stop touches them. Ticks are gross: stop − start less what nested probes cost, the
/// callsite's own visible overhead inside. They are signed, since the cost of nested probes is known on average only.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Record {
    /// Activations that have started and not stopped.
    depth: AtomicU32,
    /// How many samples are held, and [`NEW`].
    held: AtomicU32,
    /// What an empty probe of this callsite sees of itself, rounded, in ticks.
    pub(crate) visible: Figure,
    /// What a probe of this callsite costs its callers, rounded, in ticks.
    pub(crate) cost: Figure,
    /// What it costs them more when other probes are nested in it.
    pub(crate) nesting: Figure,
    samples_held: [Figure; HELD],
    /// Over all calls: what nested probes cost them, and the net ticks of annotated callees.
    nested: Figure,
    callees: Figure,

    /// Odd while what follows is being written.
    sequence: AtomicU32,
    /// The callsite's number.
    pub(crate) id: u32,
    /// The registration's number: the lowest has the first call of the process.
    order: u64,
    /// The activations inside others of the same callsite, which the inclusive total leaves out.
    inner: Figure,
    inner_gross: Figure,
    inner_nested: Figure,
    /// What the folded samples come to.
    samples: Figure,
    sum: Figure,
    squares_low: Figure,
    squares_high: Figure,
    min: Figure,
    max: Figure,
    buckets: Buckets,

    /// The calls that are no samples. `firsts` is 1 once the first call has returned.
    first: Figure,
    firsts: Figure,
    interrupted: Figure,
    interrupted_sum: Figure,
    anomalies: Figure,
    /// Samples that may have been interrupted, for all that is known.
    unknown: Figure,
    /// Bytes or items that calls said they work on.
    units: Figure,
    /// Of async functions: polls and their ticks, which the samples only have once a future completes; ticks from the first poll to
    /// completion; futures dropped before completion.
    polls: Figure,
    polls_gross: Figure,
    wall: Figure,
    cancelled: Figure,
    interrupted_octaves: [AtomicU32; OCTAVES],
}

/// "Typical" in the documentation of the memory needed: what a record takes until more octaves are seen than it has room for.
const _: () = assert!(size_of::<Record>() <= 2048);

/// Why a call is no ordinary sample; of two reasons the later one here holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unusual {
    /// A sample, but nobody knows whether it was interrupted.
    Unknown,
    Interrupted,
    /// Its ticks are negative: they are in no sum.
    Anomalous,
}

impl Record {
    pub(crate) const fn new(id: u32, order: u64) -> Self {
        Self {
            depth: AtomicU32::new(0),
            held: AtomicU32::new(NEW),
            visible: Figure::new(0),
            cost: Figure::new(0),
            nesting: Figure::new(0),
            samples_held: [const { Figure::new(0) }; HELD],
            nested: Figure::new(0),
            callees: Figure::new(0),
            sequence: AtomicU32::new(0),
            id,
            order,
            inner: Figure::new(0),
            inner_gross: Figure::new(0),
            inner_nested: Figure::new(0),
            samples: Figure::new(0),
            sum: Figure::new(0),
            squares_low: Figure::new(0),
            squares_high: Figure::new(0),
            min: Figure::new(i64::MAX.cast_unsigned()),
            max: Figure::new(i64::MIN.cast_unsigned()),
            buckets: Buckets::new(),
            first: Figure::new(0),
            firsts: Figure::new(0),
            interrupted: Figure::new(0),
            interrupted_sum: Figure::new(0),
            anomalies: Figure::new(0),
            unknown: Figure::new(0),
            units: Figure::new(0),
            polls: Figure::new(0),
            polls_gross: Figure::new(0),
            wall: Figure::new(0),
            cancelled: Figure::new(0),
            interrupted_octaves: [const { AtomicU32::new(0) }; OCTAVES],
        }
    }

    /// An activation starts.
    #[inline(always)]
    pub(crate) fn enter(&self) {
        self.depth
            .store(self.depth.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// An activation stops that had others nested in it: their probes' cost, and the net ticks of annotated callees.
    #[inline(always)]
    pub(crate) fn add_nested(&self, nested: u64, callees: u64) {
        self.nested.add(nested);
        self.callees.add(callees);
    }

    /// An activation stops, and is an ordinary sample: its gross ticks, and what nested probes cost it.
    #[inline(always)]
    pub(crate) fn leave(&self, gross: u64, nested: u64) {
        self.leave_depth(gross, nested);
        self.add_sample(gross);
    }

    #[inline(always)]
    fn add_sample(&self, gross: u64) {
        let held = self.held.load(Relaxed);
        self.samples_held[held as usize % HELD].set(gross);
        self.held.store(held + 1, Release);
        if held + 1 >= HELD as u32 {
            self.fold();
        }
    }

    #[inline(always)]
    fn leave_depth(&self, gross: u64, nested: u64) {
        let depth = self.depth.load(Relaxed).wrapping_sub(1);
        self.depth.store(depth, Relaxed);
        if depth != 0 {
            self.inner.add(1);
            self.inner_gross.add(gross);
            self.inner_nested.add(nested);
        }
    }

    /// Adds the held samples to the statistics. `extern "C"`: who calls it last needs no frame for unwinding.
    #[inline(never)]
    extern "C" fn fold(&self) {
        let held = self.held.load(Relaxed);
        if held & NEW != 0 && !self.is_running() {
            return self.leave_first(self.samples_held[0].get());
        }
        self.open();
        let samples = &self.samples_held[..(held & !NEW) as usize % (HELD + 1)];
        let mut folded = Folded::new(self.min.signed(), self.max.signed());
        for sample in samples {
            folded.add(sample.signed());
        }
        self.samples.add(samples.len() as u64);
        self.sum.add(folded.sum.cast_unsigned());
        let (low, carry) = self
            .squares_low
            .get()
            .overflowing_add(folded.squares as u64);
        self.squares_low.set(low);
        self.squares_high
            .add((folded.squares >> 64) as u64 + u64::from(carry));
        self.min.set(folded.min.cast_unsigned());
        self.max.set(folded.max.cast_unsigned());
        self.buckets.expect(HELD as u32);
        for sample in samples {
            self.buckets.count(not_below_zero(sample.signed()));
        }
        self.held.store(held & NEW, Relaxed);
        self.close();
    }

    /// The first call on this thread has returned. Of a recursion that is the outermost call.
    fn leave_first(&self, gross: u64) {
        self.open();
        self.first.set(gross);
        self.firsts.set(1);
        self.held.store(0, Relaxed);
        self.close();
    }

    /// An activation stops that is no ordinary sample.
    pub(crate) fn leave_apart(&self, why: Unusual, gross: u64, nested: u64) {
        self.leave_depth(gross, nested);
        self.add_apart(why, gross);
    }

    fn add_apart(&self, why: Unusual, gross: u64) {
        match why {
            Unusual::Unknown => {
                self.unknown.add(1);
                self.add_sample(gross);
            }
            Unusual::Anomalous => self.anomalies.add(1),
            Unusual::Interrupted if self.is_new() && !self.is_running() => self.leave_first(gross),
            Unusual::Interrupted => {
                self.open();
                self.interrupted.add(1);
                self.interrupted_sum.add(gross);
                let count =
                    &self.interrupted_octaves[bucket(not_below_zero(gross.cast_signed())).0];
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
        self.leave_depth(gross, nested);
        self.polls.add(1);
        self.polls_gross.add(gross);
    }

    /// A future has completed, with the gross ticks of all its polls.
    pub(crate) fn complete(&self, unusual: Option<Unusual>, gross: u64, wall: u64) {
        self.wall.add(wall);
        match unusual {
            None => self.add_sample(gross),
            Some(why) => self.add_apart(why, gross),
        }
    }

    /// A future was dropped that had not completed.
    pub(crate) fn cancel(&self) {
        self.cancelled.add(1);
    }

    /// Whether the first call on this thread is still to be recorded.
    fn is_new(&self) -> bool {
        self.held.load(Relaxed) & NEW != 0
    }

    pub(crate) fn is_running(&self) -> bool {
        self.depth.load(Relaxed) != 0
    }

    /// How many samples there are, and their sum. For the record's own thread.
    pub(crate) fn samples(&self) -> (u64, i64) {
        let held = self.held();
        let sum = held.iter().fold(self.sum.signed(), |sum, sample| {
            sum.wrapping_add(sample.signed())
        });
        (self.samples.get() + held.len() as u64, sum)
    }

    fn held(&self) -> &[Figure] {
        let held = (self.held.load(Acquire) & !NEW) as usize;
        &self.samples_held[..held.min(HELD)]
    }

    /// Forgets all but the running activations. For the record's own thread.
    pub(crate) fn clear(&self) {
        let fresh = Self::new(self.id, self.order);
        self.open();
        self.held.store(self.held.load(Relaxed) & NEW, Relaxed);
        for (figure, fresh) in self.statistics().iter().zip(fresh.statistics()) {
            figure.set(fresh.get());
        }
        self.interrupted_octaves
            .iter()
            .for_each(|count| count.store(0, Relaxed));
        self.buckets.clear();
        self.close();
    }

    fn statistics(&self) -> [&Figure; 22] {
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
            &self.interrupted,
            &self.interrupted_sum,
            &self.anomalies,
            &self.unknown,
            &self.units,
            &self.polls,
            &self.polls_gross,
            &self.wall,
            &self.cancelled,
        ]
    }

    /// Adds what the record holds to `totals`. What a fold writes is read together, unless the thread folds all the while; of a
    /// call that stops meanwhile, some sums may be read with it and some without.
    pub(crate) fn read(&self, totals: &mut Totals) {
        let mut figures = Totals::default();
        for _ in 0..READ_ATTEMPTS {
            let before = self.sequence.load(Acquire);
            figures = self.figures();
            fence(Acquire);
            if before & 1 == 0 && self.sequence.load(Relaxed) == before {
                break;
            }
            core::hint::spin_loop();
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

    /// All but the buckets; the held samples folded in.
    fn figures(&self) -> Totals {
        let samples = self.samples.get();
        let first = Some(self.first.signed()).filter(|_| self.firsts.get() != 0);
        let mut totals = Totals {
            running: u64::from(self.depth.load(Relaxed)),
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
            interrupted: self.interrupted.get(),
            interrupted_sum: self.interrupted_sum.signed(),
            anomalies: self.anomalies.get(),
            unknown: self.unknown.get(),
            units: self.units.get(),
            polls: self.polls.get(),
            polls_gross: self.polls_gross.signed(),
            wall: self.wall.get(),
            cancelled: self.cancelled.get(),
            ..Totals::default()
        };
        for sample in self.held() {
            totals.add_sample(sample.signed());
        }
        totals.threads = u64::from(totals.calls() + totals.polls != 0);
        totals
    }
}

/// What a histogram counts a signed number of ticks as.
pub(crate) const fn not_below_zero(ticks: i64) -> u64 {
    if ticks < 0 { 0 } else { ticks.cast_unsigned() }
}

/// The sums over samples while they are folded.
struct Folded {
    sum: i64,
    squares: u128,
    min: i64,
    max: i64,
}

impl Folded {
    fn new(min: i64, max: i64) -> Self {
        Self {
            sum: 0,
            squares: 0,
            min,
            max,
        }
    }

    #[inline(always)]
    fn add(&mut self, sample: i64) {
        self.sum = self.sum.wrapping_add(sample);
        self.squares = self.squares.wrapping_add(square(sample));
        self.min = self.min.min(sample);
        self.max = self.max.max(sample);
    }
}

/// Exact: no sample is so large that its square needs 128 bits signed.
#[inline(always)]
pub(crate) fn square(sample: i64) -> u128 {
    (i128::from(sample) * i128::from(sample)).cast_unsigned()
}
