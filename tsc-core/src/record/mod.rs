//! One thread's figures for one callsite.
//!
//! Only its own thread writes it, with plain (relaxed) loads and stores: a usual stop has no `lock` prefix, and no cache line that several
//! threads write. Other threads may read it; a sequence number tells them whether the values that they have read belong together.
//!
//! A stop only buffers its sample. [`fold`] updates the statistics, and [`read`] reads them.

#![cfg(measuring)]

use core::cell::Cell;

use crate::on_cpu::Inside;
use crate::record::atomic_histogram::AtomicHistogram;
use crate::record::contexts::LastPlace;
use crate::record::counters::{Count, Counters};
use crate::record::histogram::{BucketIndex, SHORT};
use crate::record::sequence::Sequence;
use crate::record::side_histograms::{Side, SideHistograms};
use crate::record::slowest::Slowest;
use crate::record::table::Entry;
use crate::sync::atomic::{AtomicU32, Ordering::Relaxed};
use crate::tsc::Fence;

pub(crate) mod arena;
pub(crate) mod atomic_histogram;
mod batch;
pub(crate) mod callsite;
pub(crate) mod contexts;
pub(crate) mod counters;
#[cfg(all(feature = "pmu", target_os = "linux", not(miri)))]
pub(crate) mod event_row;
mod fold;
pub(crate) mod histogram;
#[cfg(all(test, shuttle))]
mod interleavings;
pub(crate) mod kept;
pub(crate) mod light;
pub(crate) mod name;
mod pages;
mod read;
mod segments;
mod sequence;
mod settled;
pub(crate) mod side_histograms;
mod slices;
pub(crate) mod slowest;
pub(crate) mod table;
pub(crate) mod taken;
pub(crate) mod thread;
pub(crate) mod totals;

pub(crate) use settled::{Settled, Sums};

/// The number of samples that a record buffers before it folds them.
pub(crate) const BUFFER_LEN: usize = 64;
/// Samples of at least this length (3 ms at 2.6 GHz) are not buffered but folded one by one, so that the sum of all buffered samples fits
/// in 32 bits.
const BUFFERED_BELOW: u64 = SHORT;
const _: () = assert!((BUFFERED_BELOW - 1) * BUFFER_LEN as u64 <= u32::MAX as u64);

/// A value of `buffered`: the first call on this thread has not returned yet.
const NEW: u32 = u32::MAX;

/// The fields are in the order in which a stop uses them. Ticks are gross: stop − start, minus the cost of nested probes and the time off
/// the CPU, including the callsite's own visible overhead. Samples also contain the time blocked. Ticks may be negative, because the cost
/// of nested probes is only known on average.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Record {
    /// Where the thread's table has this record.
    entry: *const Entry,
    /// The number of buffered samples, or [`NEW`].
    buffered: AtomicU32,
    /// The visible overhead of a probe of this callsite, in ticks, rounded.
    pub(crate) visible: Count,
    /// The ticks that a probe of this callsite costs its callers, rounded.
    pub(crate) cost: Count,
    /// The additional ticks that it costs them if other probes are nested in it.
    pub(crate) nesting: Count,
    /// Calls of more raw ticks take the path of unusual ones: they are too long to be buffered, or may be among the slowest. Less than
    /// [`BUFFERED_BELOW`]. For the record's own thread alone.
    notable_above: Cell<u64>,
    buffer: [AtomicU32; BUFFER_LEN],
    pub(crate) counters: Counters,

    /// Odd while the statistics are being written: the samples' counters, the histograms and the slowest calls.
    sequence: Sequence,
    /// The callsite's number.
    pub(crate) id: u32,
    /// The number of the registration. The lowest one has the first call of the process.
    order: u64,
    buckets: AtomicHistogram,
    /// For the call tree of the record's thread.
    pub(crate) last_place: LastPlace,
    /// What registrations and reports took in the running calls. For the record's own thread alone.
    registration: Cell<u64>,
    /// The first of the buckets in which most samples lie, as far as is known. For the record's own thread alone.
    #[cfg(target_arch = "x86_64")]
    window: Cell<BucketIndex>,

    side: SideHistograms,
    /// `None` if none are kept.
    slowest: Option<Slowest>,
    /// The events counted in the callsite's calls.
    #[cfg(all(feature = "pmu", target_os = "linux", not(miri)))]
    pub(crate) events: Option<&'static event_row::EventRow>,
    /// The callsite's fence.
    pub(crate) fence: Cell<Option<Fence>>,
}

/// "Typical" in the documentation of the memory needed: what a record takes until more octaves are seen than it has room for.
const _: () = assert!(size_of::<Record>() <= 2048);

/// The reasons why a call is not an ordinary sample. If there are two, the later one in this list counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exclusion {
    /// A sample of which it is unknown whether it was interrupted.
    Unknown,
    /// A sample only if it was on the CPU for long enough.
    Interrupted,
    /// Its ticks are negative, so it is in no sum.
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
            visible: Count::new(),
            cost: Count::new(),
            nesting: Count::new(),
            notable_above: Cell::new(BUFFERED_BELOW - 1),
            buffer: [const { AtomicU32::new(0) }; BUFFER_LEN],
            counters: Counters::new(),
            sequence: Sequence(AtomicU32::new(0)),
            id,
            order,
            buckets: AtomicHistogram::new(),
            last_place: LastPlace::new(),
            registration: Cell::new(0),
            #[cfg(target_arch = "x86_64")]
            window: Cell::new(BucketIndex::of(0)),
            side: SideHistograms::new(),
            slowest: None,
            #[cfg(all(feature = "pmu", target_os = "linux", not(miri)))]
            events: None,
            fence: Cell::new(None),
        }
    }

    /// Whether a call of so many raw ticks takes the path of unusual ones: it is too long to be buffered, its ticks are negative, or it may be
    /// among the slowest.
    #[inline(always)]
    pub(crate) fn is_notable(&self, raw: u64) -> bool {
        let above = self.notable_above.get();
        // SAFETY: it is never set to more. So what is not notable can be buffered, which the compiler need not check again.
        unsafe { core::hint::assert_unchecked(above < BUFFERED_BELOW) };
        raw > above
    }

    /// Where the thread's table has this record.
    #[inline(always)]
    pub(crate) fn entry(&self) -> &Entry {
        // SAFETY: the caller of `new` promised that it lives as long as the record.
        unsafe { &*self.entry }
    }

    /// The same, as it was given to `new`.
    pub(crate) fn entry_pointer(&self) -> *const Entry {
        self.entry
    }

    /// Whether it is for a single call, because the thread has ended, and therefore in no table.
    pub(crate) fn is_orphan(&self) -> bool {
        self.entry().record().is_null()
    }

    /// Called when an activation stops that contains others: adds the cost of their probes, and the net ticks of annotated callees.
    #[inline(always)]
    pub(crate) fn add_nested(&self, nested: u64, callees: u64) {
        self.counters.nested.add(nested.cast_signed());
        self.counters.callees.add(callees.cast_signed());
    }

    /// Notes that a registration or a report took so many ticks of the running call.
    pub(crate) fn note_registration(&self, ticks: u64) {
        self.registration.update(|sum| sum.wrapping_add(ticks));
    }

    /// Called when an activation stops that is an ordinary sample: its gross ticks, and the cost of nested probes.
    #[inline(always)]
    pub(crate) fn leave(&self, gross: u64, nested: u64) {
        self.end_activation(gross, nested);
        self.add_sample(gross);
    }

    /// What of a probe's cost comes before the read at the start or after the one at the stop.
    pub(crate) fn hidden_cost(&self) -> i64 {
        self.cost
            .get()
            .wrapping_sub(self.visible.get())
            .cast_signed()
    }

    /// The rest of [`leave`](Self::leave), after [`end_activation`](Self::end_activation).
    #[inline(always)]
    pub(crate) fn add_sample(&self, gross: u64) {
        let buffered = self.buffered.load(Relaxed);
        match self.buffer.get(buffered as usize) {
            Some(sample) if !is_long(gross) => {
                sample.store(gross as u32, Relaxed);
                self.count_buffered(buffered);
            }
            _ => self.add_slowly(gross),
        }
    }

    /// Adds one to the number of buffered samples. On x86 this is a single instruction, so that no call is lost if a signal handler in
    /// between calls the same function: then both have written to the same place, and the place after it counts with the sample that it
    /// still has from before.
    #[inline(always)]
    fn count_buffered(&self, buffered: u32) {
        #[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), not(miri)))]
        // SAFETY: adds to an atomic that only this thread writes. Other threads see it like a store with release ordering.
        unsafe {
            let _ = buffered;
            core::arch::asm!(
                "add dword ptr [{} + {}], 1",
                in(reg) self,
                const core::mem::offset_of!(Self, buffered),
                options(nostack),
            );
        }
        #[cfg(not(all(any(target_arch = "x86", target_arch = "x86_64"), not(miri))))]
        self.buffered
            .store(buffered + 1, crate::sync::atomic::Ordering::Release);
    }

    /// Called when an activation stops: its gross ticks, and the cost of nested probes. What kind of sample it is, is told next. Returns
    /// whether it was inside another one.
    #[inline(always)]
    pub(crate) fn end_activation(&self, gross: u64, nested: u64) -> bool {
        let is_inner = self.entry().leave();
        if is_inner {
            self.counters.inner.add(1);
            self.counters.inner_gross.add(gross.cast_signed());
            self.counters.inner_nested.add(nested.cast_signed());
        }
        is_inner
    }

    /// Called when the first call on this thread has returned; of a recursion, the outermost call.
    fn leave_first(&self, gross: u64, interrupted: bool) {
        self.sequence.open();
        let begun = self.buffered.compare_exchange(NEW, 0, Relaxed, Relaxed);
        if begun.is_err() {
            // A signal handler that called the same function was first.
            self.sequence.close();
            return self.fold_one(gross.cast_signed());
        }
        self.counters.firsts_interrupted.set(u64::from(interrupted));
        self.counters.first_sum.set(gross.cast_signed());
        self.counters.firsts.set(1);
        // See `count_buffered` for what counts if a signal handler comes in between.
        let gross = gross.min(BUFFERED_BELOW - 1) as u32;
        for sample in &self.buffer {
            sample.store(gross, Relaxed);
        }
        self.sequence.close();
    }

    /// Adds a call that has ended: its gross ticks on the CPU and blocked, and by the wall clock. An interrupted one is a sample if it is repaired.
    pub(crate) fn add_call(
        &self,
        unusual: Option<Exclusion>,
        sample: u64,
        wall: u64,
        is_repaired: bool,
    ) {
        match unusual {
            None => self.add_sample(sample),
            Some(Exclusion::Unknown) => {
                self.counters.unknown.add(1);
                self.add_sample(sample);
            }
            Some(Exclusion::Interrupted) => self.add_interrupted(sample, wall, is_repaired),
            Some(Exclusion::Anomalous) => self.counters.anomalies.add(1),
        }
    }

    /// What registrations and reports took in the outermost activation, which stops.
    pub(crate) fn take_registration(&self) -> u64 {
        let taken = (!self.is_inner()).then(|| self.registration.take());
        taken.unwrap_or(0)
    }

    /// Called before an activation stops in which so much was lost. Adds the cost of registrations and reports, too.
    pub(crate) fn add_lost(&self, inside: &Inside) {
        let counters = &self.counters;
        counters.own_off.add(inside.own.off);
        counters.own_waiting.add(inside.own.waiting);
        counters.own_interruptions.add(inside.own.switches.into());
        counters.calls_blocked.add(inside.loss.blocked());
        if self.entry().depth() == 1 {
            counters.off.add(inside.loss.off);
            counters.waiting.add(inside.loss.waiting);
            counters.switches.add(inside.loss.switches.into());
        }
        let registration = self.take_registration().cast_signed();
        counters.registration.add(registration);
        counters.unsplit.add(u64::from(!inside.loss.is_split));
    }

    /// The ticks in which the record's outermost activations were blocked so far.
    pub(crate) fn blocked(&self) -> i64 {
        let counters = &self.counters;
        counters.off.get().wrapping_sub(counters.waiting.get())
    }

    fn add_interrupted(&self, sample: u64, wall: u64, is_repaired: bool) {
        let (counters, ticks) = (&self.counters, sample.cast_signed());
        let waiting = wall.cast_signed().wrapping_sub(ticks);
        counters.calls_waiting.add(waiting);
        if self.is_first() {
            return self.leave_first(sample, true);
        }
        self.sequence.open();
        self.count_wall(wall);
        if is_repaired {
            counters.repaired.add(1);
            self.add_to_statistics(ticks);
            self.side.count(Side::Repaired, bucket_of(sample));
        } else {
            counters.excluded.add(1);
            counters.excluded_sum.add(ticks);
            self.side.count(Side::Excluded, bucket_of(sample));
        }
        self.sequence.close();
    }

    fn count_wall(&self, wall: u64) {
        self.side.count(Side::Wall, bucket_of(wall));
        self.counters.wall_max.add(wall.cast_signed());
    }

    /// Called when a poll of a future stops: its gross ticks, those in which it was blocked, and the cost of nested probes.
    pub(crate) fn leave_poll(&self, gross: u64, blocked: i64, nested: u64) {
        self.end_activation(gross, nested);
        let (counters, gross) = (&self.counters, gross.cast_signed());
        counters.polls.add(1);
        counters.polls_gross.add(gross);
        counters.poll_max.add(gross.wrapping_add(blocked));
    }

    /// Called when a future has completed, with the gross ticks of all its polls on the CPU and blocked, and the time since the first of
    /// them.
    pub(crate) fn complete(
        &self,
        unusual: Option<Exclusion>,
        sample: u64,
        wall: u64,
        is_repaired: bool,
    ) {
        self.counters.wall.add(wall);
        if unusual < Some(Exclusion::Interrupted) && !self.is_first() {
            self.count_wall(wall);
        }
        self.add_call(unusual, sample, wall, is_repaired);
    }

    /// Whether the first call on this thread is not recorded yet.
    pub(crate) fn is_new(&self) -> bool {
        self.buffered.load(Relaxed) == NEW
    }

    pub(crate) fn is_running(&self) -> bool {
        self.entry().depth() != 0
    }

    /// Whether the running call is inside another one of the same callsite.
    pub(crate) fn is_inner(&self) -> bool {
        self.entry().depth() > 1
    }

    /// Whether the call that has just ended is the first on this thread; of a recursion, the outermost call.
    fn is_first(&self) -> bool {
        self.is_new() && !self.is_running()
    }
}

fn bucket_of(sample: u64) -> BucketIndex {
    BucketIndex::of(not_below_zero(sample.cast_signed()))
}

/// Whether a sample is too long to be buffered, or negative.
#[inline(always)]
pub(crate) const fn is_long(gross: u64) -> bool {
    gross >= BUFFERED_BELOW
}

/// The value that a histogram counts for a signed number of ticks.
pub(crate) const fn not_below_zero(ticks: i64) -> u64 {
    if ticks < 0 { 0 } else { ticks.cast_unsigned() }
}

/// Exact, because no sample is so large that its square needs 128 bits with a sign.
#[inline(always)]
pub(crate) fn square(sample: i64) -> u128 {
    (i128::from(sample) * i128::from(sample)).cast_unsigned()
}
