//! Calls of a sampled callsite, most of which are only counted. [`sampling`](crate::record::sampling) decides which calls are timed, and
//! how many calls each of them stands for.

use super::unusual::{is_repaired, prepare_unusual};
use super::{COUNTED, Started, start_with};
use crate::interruption::Interruption;
use crate::on_cpu::Inside;
use crate::record::Record;
use crate::record::callsite::Callsite;
use crate::record::sampling::Ticks;
use crate::record::table::Entry;
use crate::record::thread::Thread;

/// A mark in [`Started::overhead`] for a sampled call; no real sum comes near it. The stop of a usual call need not check for it
/// separately, because a marked call looks like one that contains other probes.
const MARK: u64 = 1 << 63;

pub(super) const fn is_marked(overhead: u64) -> bool {
    overhead.cast_signed() < 0
}

pub(super) const fn unmarked(overhead: u64) -> u64 {
    overhead & !MARK
}

/// The values that the stop of a sampled call needs in addition to the usual ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// How many calls this one stands for.
    weight: u32,
    /// The inclusive sums of the callsite at the start.
    included: [i64; 2],
    /// The sums of the thread at the start.
    variance: f64,
}

/// # Safety
///
/// [`prepare_timed`] has written `started`.
pub(super) unsafe fn weight(started: *const Started) -> u32 {
    // SAFETY: guaranteed by the caller: `prepare_timed` has written `sampled`.
    unsafe { (*started).sampled.weight }
}

/// A call of a sampled callsite: counts it, or prepares to time it if it is its turn. Or any callsite's first call.
///
/// # Safety
///
/// As for [`prepare`](super::prepare). `entry` is the callsite's, and its `skip` is not 0.
#[inline(never)]
pub(super) unsafe extern "C" fn prepare_sampled(
    callsite: &'static Callsite,
    entry: &Entry,
    thread: &Thread,
    started: *mut Started,
) -> bool {
    let skip = entry.skip();
    if skip > 1 {
        entry.set_skip(skip - 1);
        count(thread);
        // SAFETY: guaranteed by the caller: `started` is valid for writes.
        unsafe { (&raw mut (*started).record).write(COUNTED) };
        return false;
    }
    // SAFETY: guaranteed by the caller. A record lives as long as its entry, and null becomes `None`.
    unsafe {
        match entry.record().as_ref() {
            Some(record) => prepare_timed(record, thread, started, record.draw(thread)),
            None => prepare_unusual(callsite, thread, started),
        }
    }
}

/// The same for a section. Returns its weight if it is to be timed.
pub(super) fn turn(record: &Record, thread: &Thread) -> Option<u32> {
    let entry = record.entry();
    let skip = entry.skip();
    if record.is_new() && !record.is_running() {
        return Some(1);
    }
    if skip > 1 {
        entry.set_skip(skip - 1);
        count(thread);
        return None;
    }
    Some(record.draw(thread))
}

/// The same for a call that went through the registry. The first call on this thread is timed and stands only for itself.
///
/// # Safety
///
/// As for [`prepare_sampled`], and `record` is the callsite's.
#[cold]
pub(super) unsafe fn prepare_first_sampled(
    callsite: &'static Callsite,
    record: &Record,
    thread: &Thread,
    started: *mut Started,
) -> bool {
    // SAFETY: guaranteed by the caller: `started` is valid for writes, and `record` and its entry are the callsite's.
    unsafe {
        if record.is_new() {
            prepare_timed(record, thread, started, 1)
        } else {
            prepare_sampled(callsite, record.entry(), thread, started)
        }
    }
}

/// Adds the cost of a call that is counted and not timed.
#[inline(always)]
pub(super) fn count(thread: &Thread) {
    let cost = thread.sampler.counted_cost();
    thread
        .overhead
        .set(thread.overhead.get().wrapping_add(cost));
}

/// # Safety
///
/// As for [`prepare`](super::prepare).
#[inline(never)]
pub(super) unsafe extern "C" fn prepare_timed(
    record: &Record,
    thread: &Thread,
    started: *mut Started,
    weight: u32,
) -> bool {
    record.entry().enter();
    // The time for asking the kernel is before the call.
    if !thread.detector.is_armed() {
        thread.rearm();
    }
    let start = Start {
        weight,
        included: record.included(),
        variance: thread.variance.get(),
    };
    // SAFETY: guaranteed by the caller: `started` is valid for writes.
    unsafe {
        start_with(record, thread, started);
        (&raw mut (*started).overhead).write(thread.overhead.get() | MARK);
        (&raw mut (*started).sampled).write(start);
    }
    true
}

/// Records a timed call that was neither interrupted nor long.
///
/// # Safety
///
/// As for [`finish`](super::finish), and `overhead` is marked.
#[inline(never)]
pub(super) unsafe extern "C" fn finish_sampled(started: *const Started, raw: u64) {
    // SAFETY: guaranteed by the caller: a start on this thread has written `started`; the mark shows that this was `prepare_timed`.
    unsafe {
        let record = &*(*started).record;
        let sampled = Sampled::settle(record, started, raw.cast_signed(), 0, false);
        record.leave_weighted(sampled.gross, sampled.weight);
    }
}

/// Records a timed call that was interrupted or long, or during which the thread took a cold path.
///
/// # Safety
///
/// As for [`finish_sampled`], and `record` is the value with which the call was started.
pub(super) unsafe fn finish_unusual(
    record: &Record,
    started: *const Started,
    raw: i64,
    interruption: Interruption,
    inside: &Inside,
) {
    let off = inside.loss.off;
    // SAFETY: guaranteed by the caller: a start on this thread has written `thread`.
    let thread = unsafe { &*(*started).thread };
    // SAFETY: guaranteed by the caller: a start on this thread has written `started`.
    let gross = unsafe { gross(thread, started, raw) };
    let is_interrupted = interruption == Interruption::Interrupted;
    let is_repaired = is_interrupted && is_repaired(record, thread, gross, inside.loss.switches);
    // SAFETY: guaranteed by the caller: `prepare_timed` has written `started` on this thread, with this record.
    let Sampled {
        gross,
        nested,
        weight,
    } = unsafe { Sampled::settle(record, started, raw, off, is_interrupted && !is_repaired) };
    record.add_off_cpu(inside);
    match interruption {
        Interruption::Clean => record.leave_weighted(gross, weight),
        Interruption::Interrupted => {
            let wall = gross.wrapping_add_signed(off);
            record.leave_interrupted(gross, nested, wall, is_repaired, weight);
        }
        Interruption::Unknown => record.leave_unknown(gross, weight),
    }
}

/// Ticks minus the overhead that was added to the thread meanwhile.
///
/// # Safety
///
/// As for [`finish_sampled`].
unsafe fn gross(thread: &Thread, started: *const Started, raw: i64) -> u64 {
    // SAFETY: guaranteed by the caller: a start has written the overhead.
    let overhead_then = unsafe { unmarked((*started).overhead) };
    let added = thread.overhead.get().wrapping_sub(overhead_then);
    raw.cast_unsigned().wrapping_sub(added)
}

/// A timed call that is part of all running sums, and still has to be recorded.
pub(super) struct Sampled {
    pub(super) gross: u64,
    nested: u64,
    pub(super) weight: u32,
}

impl Sampled {
    /// Updates the running sums. `off` ticks of the overhead were time off the CPU. The ticks of an excluded call are not multiplied.
    ///
    /// # Safety
    ///
    /// As for [`finish_sampled`], and `record` is the value with which the call was started.
    pub(super) unsafe fn settle(
        record: &Record,
        started: *const Started,
        raw: i64,
        off: i64,
        is_excluded: bool,
    ) -> Self {
        // SAFETY: guaranteed by the caller. `prepare_timed` has written all of it.
        let (thread, work_then, start) =
            unsafe { (&*(*started).thread, (*started).work, (*started).sampled) };
        // SAFETY: guaranteed by the caller: a start on this thread has written `started`.
        let gross = unsafe { gross(thread, started, raw) };
        let Start {
            weight,
            included,
            variance,
        } = start;
        let raw = raw.wrapping_sub(off);
        let nested = raw.cast_unsigned().wrapping_sub(gross);
        let work = thread.work.get();
        let callees = work.wrapping_sub(work_then);
        let times = u64::from(weight);
        record.add_nested(nested.wrapping_mul(times), callees.wrapping_mul(times));
        let mut cost = record.sampling.cost_of(weight);
        if nested != 0 {
            cost = cost.wrapping_add(record.nesting.get());
        }
        thread
            .overhead
            .set(thread.overhead.get().wrapping_add(cost));
        let net = gross.wrapping_sub(record.visible.get()).cast_signed();
        let ticks = Ticks {
            net,
            raw,
            own: net.wrapping_sub(callees.cast_signed()),
        };
        let own = record.include(included, weight, ticks, is_excluded);
        thread.work.set(work.wrapping_add(own.cast_unsigned()));
        carry_variance(record, thread, weight, variance, ticks.own);
        record.observe(net.wrapping_add(off));
        Self {
            gross,
            nested,
            weight,
        }
    }
}

/// The part that callees add to the uncertainty of their callers is subtracted once together with the call's self ticks, and added `weight`
/// times. The callees themselves are added `weight` times or not at all.
fn carry_variance(record: &Record, thread: &Thread, weight: u32, then: f64, own: i64) {
    let inside = thread.variance.get() - then;
    record.add_variance(weight, inside);
    let (more, own) = (f64::from(weight - 1), own as f64);
    let added = more * (more * inside + f64::from(weight) * own * own);
    thread.variance.set(then + added);
}
