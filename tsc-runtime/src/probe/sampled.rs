//! Calls of a sampled callsite, most of which are only counted. [`sampling`](crate::record::sampling) decides which calls are timed, and
//! how many calls each of them stands for. A call with the weight 0 is counted, and timed only for its caller's self ticks or as a warm-up.

use super::unusual::{is_repaired, prepare_unusual};
use super::{COUNTED, Started, start_with};
use crate::interruption::Interruption;
use crate::on_cpu::Inside;
use crate::record::Record;
use crate::record::callsite::Callsite;
use crate::record::sampling::{Caller, Included, Ticks};
use crate::record::table::Entry;
use crate::record::thread::Thread;
use crate::registry;

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
    included: Included,
    /// The sums of the thread at the start.
    variance: f64,
    /// The call around this one.
    around: Caller,
}

/// # Safety
///
/// [`prepare_timed`] has written `started`.
pub(super) unsafe fn weight(started: *const Started) -> u32 {
    // SAFETY: guaranteed by the caller: `prepare_timed` has written `sampled`.
    unsafe { (*started).sampled.weight }
}

/// Whether the call is counted already, and timed only for its caller's self ticks or as a warm-up. Its stop records nothing.
///
/// # Safety
///
/// As for [`finish`](super::finish), and `record` points to a record.
pub(super) unsafe fn is_for_caller(started: *const Started) -> bool {
    // SAFETY: guaranteed by the caller: a start has written the overhead. If it is marked, this was `prepare_timed`.
    unsafe { is_marked((*started).overhead) && weight(started) == 0 }
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
    if thread.innermost.is_due(skip) {
        // SAFETY: guaranteed by the caller.
        return unsafe { prepare_turn(callsite, entry, thread, started) };
    }
    // SAFETY: guaranteed by the caller: `started` is valid for writes.
    unsafe { only_count(entry, thread, started) }
}

/// A call that is not timed. Its skip is not 1.
///
/// # Safety
///
/// As for [`prepare`](super::prepare).
#[inline(always)]
unsafe fn only_count(entry: &Entry, thread: &Thread, started: *mut Started) -> bool {
    entry.set_skip(entry.skip() - 1);
    count(thread);
    // SAFETY: guaranteed by the caller: `started` is valid for writes.
    unsafe { (&raw mut (*started).record).write(COUNTED) };
    false
}

/// A call that is timed because it is its turn or the warm-up before, or for its caller's self ticks. Or any callsite's first call.
///
/// # Safety
///
/// As for [`prepare`](super::prepare). `entry` is the callsite's, and its `skip` is not 0.
#[inline(never)]
unsafe extern "C" fn prepare_turn(
    callsite: &'static Callsite,
    entry: &Entry,
    thread: &Thread,
    started: *mut Started,
) -> bool {
    // SAFETY: guaranteed by the caller. A record lives as long as its entry, and null becomes `None`.
    let Some(record) = (unsafe { entry.record().as_ref() }) else {
        // SAFETY: guaranteed by the caller: `started` is valid for writes.
        return unsafe { prepare_unusual(callsite, thread, started) };
    };
    let skip = entry.skip();
    if skip == 1 {
        let weight = record.draw(thread);
        if thread.sampler.is_sixty_fourth() {
            registry::keep_counted_cost_up_to_date(callsite, thread);
        }
        // SAFETY: guaranteed by the caller: `started` is valid for writes.
        return unsafe { prepare_timed(record, thread, started, weight) };
    }
    let is_warm_up = !thread.innermost.times_callees();
    if is_warm_up && !record.sampling.has_warm_up() {
        // SAFETY: guaranteed by the caller: `started` is valid for writes.
        return unsafe { only_count(entry, thread, started) };
    }
    entry.set_skip(skip - 1);
    // SAFETY: guaranteed by the caller: `started` is valid for writes.
    unsafe { prepare_weighted(record, thread, started, 0, is_warm_up) }
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
    let times_callees = record.times_callees(weight, &thread.sampler);
    // SAFETY: guaranteed by the caller: `started` is valid for writes.
    unsafe { prepare_weighted(record, thread, started, weight, times_callees) }
}

/// # Safety
///
/// As for [`prepare`](super::prepare).
#[inline(always)]
unsafe fn prepare_weighted(
    record: &Record,
    thread: &Thread,
    started: *mut Started,
    weight: u32,
    times_callees: bool,
) -> bool {
    record.entry().enter();
    // The time for asking the kernel is before the call.
    if !thread.detector.is_armed() {
        thread.rearm();
    }
    let start = Start {
        weight,
        included: if weight == 0 {
            Included::default()
        } else {
            record.included()
        },
        variance: thread.variance.get(),
        around: thread.innermost.enter(times_callees),
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
        if sampled.weight == 0 {
            record.entry().leave();
        } else {
            record.leave_weighted(sampled.gross, sampled.weight);
        }
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
    if weight == 0 {
        record.entry().leave();
        return;
    }
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
            around,
        } = start;
        let raw = raw.wrapping_sub(off);
        let nested = raw.cast_unsigned().wrapping_sub(gross);
        let work = thread.work.get();
        let callees = work.wrapping_sub(work_then);
        if weight != 0 {
            let times = u64::from(weight);
            record.add_nested(nested.wrapping_mul(times), callees.wrapping_mul(times));
        }
        let mut cost = record.cost_of(weight);
        if nested != 0 {
            cost = cost.wrapping_add(record.nesting.get());
        }
        thread
            .overhead
            .set(thread.overhead.get().wrapping_add(cost));
        let net = gross.wrapping_sub(record.visible.get()).cast_signed();
        let this = thread.innermost.leave(around);
        let ticks = Ticks {
            net,
            raw,
            own: net.wrapping_sub(callees.cast_signed()),
            is_own_known: weight <= 1 || this.times_callees(),
        };
        let mut work = work.wrapping_sub(this.added.cast_unsigned());
        if weight != 0 {
            let own = record.include(included, weight, ticks, is_excluded);
            work = work.wrapping_add(own.cast_unsigned());
            carry_variance(record, thread, weight, variance, ticks);
            if ticks.is_own_known {
                let own = ticks.own.wrapping_add(off);
                record.observe(net.wrapping_add(off), own, this.callees);
            }
            if weight > 1 && off == 0 && !is_excluded {
                record.compare(net, this);
            }
        }
        let estimate = work.wrapping_sub(work_then).cast_signed();
        let added = thread.innermost.complete(net, estimate);
        thread.work.set(work.wrapping_add(added.cast_unsigned()));
        Self {
            gross,
            nested,
            weight,
        }
    }
}

/// Adds to the uncertainty of the callers that this call stands for others. If it stands only for itself, its time is known, and so callees
/// add to the uncertainty of its self ticks alone. Otherwise its self ticks are known, or represented by those of calls that have added theirs.
fn carry_variance(record: &Record, thread: &Thread, weight: u32, then: f64, ticks: Ticks) {
    let now = thread.variance.get();
    if weight == 1 {
        record.add_variance(now - then);
        thread.variance.set(then);
    } else if ticks.is_own_known {
        let (weight, own) = (record.weight_of_own(weight), ticks.own as f64);
        thread
            .variance
            .set(now + (weight - 1.0) * weight * own * own);
    }
}

/// Called instead of [`Sampled::settle`] if the ticks are unknown.
///
/// # Safety
///
/// As for [`finish_sampled`].
pub(super) unsafe fn abandon(thread: &Thread, started: *const Started) {
    // SAFETY: guaranteed by the caller: `prepare_timed` has written it.
    thread.innermost.leave(unsafe { (*started).sampled.around });
}
