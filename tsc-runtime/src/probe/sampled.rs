//! Calls of a sampled callsite: most are only counted. [`sampling`](crate::record::sampling) says which, and what the others stand for.

use super::unusual::{is_repaired, prepare_first};
use super::{COUNTED, Started, start_with};
use crate::interruption::Interruption;
use crate::on_cpu::Inside;
use crate::record::Record;
use crate::record::callsite::Callsite;
use crate::record::sampling::Ticks;
use crate::record::table::Entry;
use crate::record::thread::Thread;

/// In [`Started::overhead`], of which no sum comes near it: the call is sampled. So a stop that is not sampled need not ask, for this
/// one looks like that of a call which had others in it.
const MARK: u64 = 1 << 63;

pub(super) const fn is_marked(overhead: u64) -> bool {
    overhead.cast_signed() < 0
}

pub(super) const fn unmarked(overhead: u64) -> u64 {
    overhead & !MARK
}

/// What the stop of a sampled call must know beside what all must.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// How many calls this one stands for.
    weight: u32,
    /// The callsite's inclusive sums.
    included: [i64; 2],
    /// The thread's.
    variance: f64,
}

/// # Safety
///
/// [`prepare_timed`] has written `started`.
pub(super) unsafe fn weight(started: *const Started) -> u32 {
    // SAFETY: the caller's.
    unsafe { (*started).sampled.weight }
}

/// A call of a sampled callsite: counts it, or prepares to time it if its turn has come. Or the first call of any.
///
/// # Safety
///
/// As for [`prepare`](super::prepare); `entry` is the callsite's, and its `skip` is not 0.
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
        // SAFETY: the caller's.
        unsafe { (&raw mut (*started).record).write(COUNTED) };
        return false;
    }
    // SAFETY: the caller's; a record lives as long as its entry, and null gives None.
    unsafe {
        match entry.record().as_ref() {
            Some(record) => prepare_timed(record, thread, started, record.draw(thread)),
            None => prepare_first(callsite, started),
        }
    }
}

/// The same for a section: its weight if it is to be timed.
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

/// The same for a call that went to the registry. The first on this thread is timed and stands for itself.
///
/// # Safety
///
/// As for [`prepare_sampled`]; `record` is the callsite's.
#[cold]
pub(super) unsafe fn prepare_first_sampled(
    callsite: &'static Callsite,
    record: &Record,
    thread: &Thread,
    started: *mut Started,
) -> bool {
    // SAFETY: the caller's.
    unsafe {
        if record.is_new() {
            prepare_timed(record, thread, started, 1)
        } else {
            prepare_sampled(callsite, record.entry(), thread, started)
        }
    }
}

/// A call is counted and not timed: what that costs.
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
    // What it costs to ask what was lost lies before the call.
    if !thread.detector.is_armed() {
        thread.rearm();
    }
    let start = Start {
        weight,
        included: record.included(),
        variance: thread.variance.get(),
    };
    // SAFETY: the caller's.
    unsafe {
        start_with(record, thread, started);
        (&raw mut (*started).overhead).write(thread.overhead.get() | MARK);
        (&raw mut (*started).sampled).write(start);
    }
    true
}

/// A timed call that was neither interrupted nor long.
///
/// # Safety
///
/// As for [`finish`](super::finish), and the `overhead` is marked.
#[inline(never)]
pub(super) unsafe extern "C" fn finish_sampled(started: *const Started, raw: u64) {
    // SAFETY: the caller's.
    unsafe {
        let record = &*(*started).record;
        let sampled = Sampled::settle(record, started, raw.cast_signed(), 0, false);
        record.leave_weighted(sampled.gross, sampled.weight);
    }
}

/// A timed call that was interrupted, or long, or in which the thread took a cold path.
///
/// # Safety
///
/// As for [`finish_sampled`], and `record` is what the call was started with.
pub(super) unsafe fn finish_unusual(
    record: &Record,
    started: *const Started,
    raw: i64,
    interruption: Interruption,
    inside: &Inside,
) {
    let off = inside.loss.off;
    // SAFETY: the caller's.
    let thread = unsafe { &*(*started).thread };
    // SAFETY: the caller's.
    let gross = unsafe { gross(thread, started, raw) };
    let is_interrupted = interruption == Interruption::Interrupted;
    let is_repaired = is_interrupted && is_repaired(record, thread, gross, inside.loss.switches);
    // SAFETY: the caller's.
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

/// Ticks less what was added to the thread's overhead meanwhile.
///
/// # Safety
///
/// As for [`finish_sampled`].
unsafe fn gross(thread: &Thread, started: *const Started, raw: i64) -> u64 {
    // SAFETY: the caller's.
    let overhead_then = unsafe { unmarked((*started).overhead) };
    let added = thread.overhead.get().wrapping_sub(overhead_then);
    raw.cast_unsigned().wrapping_sub(added)
}

/// A timed call whose ticks are in all running sums, and that is still to be recorded.
pub(super) struct Sampled {
    pub(super) gross: u64,
    nested: u64,
    pub(super) weight: u32,
}

impl Sampled {
    /// Carries the running sums on. `off` ticks of the overhead were time off the CPU. The ticks of an excluded call stand for no other
    /// call's.
    ///
    /// # Safety
    ///
    /// As for [`finish_sampled`], and `record` is what the call was started with.
    pub(super) unsafe fn settle(
        record: &Record,
        started: *const Started,
        raw: i64,
        off: i64,
        is_excluded: bool,
    ) -> Self {
        // SAFETY: the caller's; `prepare_timed` has written all of it.
        let (thread, work_then, start) =
            unsafe { (&*(*started).thread, (*started).work, (*started).sampled) };
        // SAFETY: the caller's.
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

/// What callees add to their callers' uncertainty is taken out once with a call's self ticks and put in `weight` times; and these are
/// themselves put in `weight` times or not at all.
fn carry_variance(record: &Record, thread: &Thread, weight: u32, then: f64, own: i64) {
    let inside = thread.variance.get() - then;
    record.add_variance(weight, inside);
    let (more, own) = (f64::from(weight - 1), own as f64);
    let added = more * (more * inside + f64::from(weight) * own * own);
    thread.variance.set(then + added);
}
