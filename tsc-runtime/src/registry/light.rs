//! Light probes in the registry: how a thread gets its rows, and what becomes of them when it ends.

use super::light_totals::add_counts;
use super::shard::Shard;
use super::thread_end::with_shard_slot;
use super::{
    CALLS_AFTER_END, HAS_LIGHT_PROBES, NUMBERS, PAUSED, UNRECORDED, begin_cold_path, in_cold_path,
    is_paused_by_now, number_of, register, registry, room,
};
use crate::calibration::overhead;
use crate::on_cpu;
use crate::record::callsite::Callsite;
use crate::record::light::{self, Counts, LightRecord, LightThread, Row};
use crate::record::thread::{self, Thread};
use crate::sync::atomic::Ordering::{Relaxed, SeqCst};
use crate::tick_clock;
use crate::tsc::{TscUnavailable, clock};

/// The result of looking for a callsite's row in the cold path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoundRow {
    /// The thread has it.
    Own,
    /// The thread has ended. To be given to [`count_after_end`].
    OfEndedThreads,
    /// There is none: recording is paused, or the call comes from within the cold path.
    Nothing,
}

/// Finds or makes this thread's row of a light callsite. `begin` is run before the process's first record is made.
pub(crate) fn find_row(callsite: &'static Callsite, begin: fn()) -> FoundRow {
    if PAUSED.load(Relaxed) {
        return FoundRow::Nothing;
    }
    if is_found_again(callsite) {
        return FoundRow::Own;
    }
    let began = begin_cold_path(thread::this());
    register(callsite, began, begin, |thread| make_row(thread, callsite))
        .unwrap_or(FoundRow::Nothing)
}

/// Whether the thread has the row, and has only noticed a pause that is over, or a reset. Neither allocates nor waits: a signal handler may
/// have interrupted the allocator.
fn is_found_again(callsite: &Callsite) -> bool {
    let light = light::this();
    if !light.has(callsite.row()) {
        return false;
    }
    light.validate();
    keep_valid(light);
    true
}

/// Sends the next start through the cold path if a pause has come in between.
fn keep_valid(light: &LightThread) {
    if is_paused_by_now() {
        light.invalidate_own();
    }
}

/// `None` if the callsite is left out, or if there is no memory.
fn make_row(thread: &Thread, callsite: &'static Callsite) -> Option<FoundRow> {
    number_of(callsite)?;
    overhead::calibrate(callsite);
    let registry = registry();
    if !HAS_LIGHT_PROBES.swap(true, SeqCst) {
        // Timed calls link frames from now on.
        registry.lists.lock().invalidate_threads();
    }
    with_shard_slot(|slot| {
        let shard = slot.current_or_begin(registry, thread);
        shard.begin_light(thread).then_some(FoundRow::Own)
    })
    .unwrap_or(Some(FoundRow::OfEndedThreads))
}

impl Shard {
    /// Gives the thread rows for all callsites that have numbers, and begins its account if that is not done. Returns false if the system has
    /// no memory. For the shard's own thread.
    pub(super) fn begin_light(&self, thread: &Thread) -> bool {
        let light = light::this();
        let mut own = self.own.lock();
        if own.light.is_none() {
            own.light = LightRecord::new().filter(|record| begin(light, thread, record));
        }
        // From here on the record stays where it is: the thread points into it.
        let Some(record) = &mut own.light else {
            return false;
        };
        record.rows.reserve(NUMBERS.load(Relaxed) as usize);
        light.set_rows(record.rows.current());
        keep_valid(light);
        true
    }
}

/// Begins the thread's account. Returns false if the system has no memory.
fn begin(light: &LightThread, thread: &Thread, record: &LightRecord) -> bool {
    if !has_times(thread) {
        return light.begin_to_count();
    }
    let begins = light.begin(&thread.detector, &record.paths);
    light.account.begin(on_cpu::now(), light.epoch().last());
    begins
}

/// Whether the times of light functions can be known on this thread: the counter may be read, or the system's clock is in its place, the
/// kernel tells how long the thread has run, and the clock runs, which is started now.
fn has_times(thread: &Thread) -> bool {
    if clock::availability().is_err_and(|why| why != TscUnavailable::NotOnThisPlatform) {
        return false;
    }
    thread.on_cpu.attach_for_light();
    if !thread.on_cpu.asks() {
        return false;
    }
    tick_clock::begin();
    tick_clock::unavailable().is_none()
}

/// Counts a call on a thread that has ended.
pub(crate) fn count_after_end(callsite: &Callsite, counter: usize, count: u64) {
    let counted = in_cold_path(|_| {
        let number = callsite.number().filter(|_| room::is_left_for_end(1))?;
        let mut lists = registry().lists.lock();
        let (rows, _) = lists.ended.of(&None, number as usize + 1);
        let mut counts = Counts::default();
        counts[counter] = count;
        add_counts(&mut rows[number as usize].sums, &counts);
        if counter == Row::CALLS {
            CALLS_AFTER_END.fetch_add(count, Relaxed);
        }
        Some(())
    });
    if counted.flatten().is_none() {
        UNRECORDED.fetch_add(1, Relaxed);
    }
}

/// In the child of a fork: the calling thread's next light call finds out that it has no rows here.
#[cfg(all(unix, any(all(test, shuttle), not(miri))))] // no process is forked elsewhere
pub(super) fn start_from_zero() {
    super::light_check::start_from_zero();
    tick_clock::EPOCH.words.forget();
    light::this().forget_rows();
}
