//! Light probes in the registry: how a thread gets its rows, and what becomes of them when it ends.

use super::shard::Shard;
use super::thread_end::with_shard_slot;
use super::{
    CALLS_AFTER_END, HAS_LIGHT_PROBES, NUMBERS, PAUSED, begin_cold_path, is_paused_by_now,
    number_of, register, registry, room,
};
use crate::on_cpu;
use crate::record::callsite::Callsite;
use crate::record::light::{self, Counts, LightRecord, LightThread, Row};
use crate::record::thread::{self, Thread};
use crate::sync::atomic::Ordering::{Relaxed, SeqCst};
use crate::tick_clock;
use crate::tsc::clock;

pub(super) mod check;
#[cfg(all(test, shuttle))]
mod interleavings;
mod totals;

pub(super) use check::{begin_own_work, end_own_work, take_left_behind};
pub(crate) use check::{check_light, is_unsplit};
use totals::add_counts;

/// Finds or makes this thread's row of a light callsite. Returns false if there is none: recording is paused, the call comes from within the
/// cold path, or the thread has ended; then `count` is added to the counter of ended threads. `begin` is run before the process's first record
/// is made.
pub(crate) fn find_row(
    callsite: &'static Callsite,
    begin: fn(),
    counter: usize,
    count: u64,
) -> bool {
    if PAUSED.load(Relaxed) {
        return false;
    }
    if light::this().has(callsite.row()) {
        // It has only noticed a pause that is over, or a reset. Nothing here allocates or waits: a signal handler may have interrupted the
        // allocator.
        validate();
        return true;
    }
    let began = begin_cold_path(thread::this());
    let make = |thread: &Thread| make_row(thread, callsite, counter, count);
    register(callsite, began, begin, make).unwrap_or(false)
}

/// Makes this thread use its rows again after a pause or a reset.
pub(super) fn validate() {
    let light = light::this();
    light.validate();
    keep_valid(light);
}

/// Sends the next start through the cold path if a pause has come in between.
fn keep_valid(light: &LightThread) {
    if is_paused_by_now() {
        light.invalidate_own();
    }
}

/// `None` if the callsite is left out, or if there is no memory.
fn make_row(
    thread: &Thread,
    callsite: &'static Callsite,
    counter: usize,
    count: u64,
) -> Option<bool> {
    let number = number_of(callsite)?;
    let registry = registry();
    if !HAS_LIGHT_PROBES.swap(true, SeqCst) {
        // Timed calls link frames from now on.
        registry.lists.lock().invalidate_threads();
    }
    with_shard_slot(|slot| {
        let shard = slot.current_or_begin(registry, thread);
        shard.begin_light(thread).then_some(true)
    })
    .unwrap_or_else(|| count_after_end(number, counter, count))
}

impl Shard {
    /// Gives the thread rows for all callsites that have numbers, and begins its account if that is not done. Returns false if the system has
    /// no memory. For the shard's own thread.
    pub(super) fn begin_light(&self, thread: &Thread) -> bool {
        let light = light::this();
        // Before the lock: a sandbox may end the thread at one of the system calls, and a report waits for the lock.
        let is_new = self.own.lock().light.is_none();
        let has_times = is_new && has_times(thread);
        let mut own = self.own.lock();
        if own.light.is_none() {
            own.light = LightRecord::new(light.inherited_paths())
                .filter(|record| begin(light, thread, record, has_times));
        }
        // From here on the record stays where it is: the thread points into it.
        let Some(record) = &mut own.light else {
            return false;
        };
        let callsites = NUMBERS.load(Relaxed) as usize;
        if record.rows.reserve(callsites).is_none() {
            return false;
        }
        light.set_rows(record.rows.current());
        keep_valid(light);
        self.forget_if_parents(thread);
        true
    }
}

/// Begins the thread's account. Returns false if too many threads have one.
fn begin(light: &LightThread, thread: &Thread, record: &LightRecord, has_times: bool) -> bool {
    if !has_times {
        return light.begin_to_count();
    }
    let begins = light.begin(&thread.detector, &record.paths);
    let (now, last) = (on_cpu::now(), tick_clock::epoch().last());
    light.account.begin(now, last);
    thread.for_each_wanted(|entry| entry.depth() != 0, |_| light.note_running_timed());
    begins
}

/// Whether the times of light functions can be known on this thread: the counter is not forbidden, the kernel tells how long the thread has
/// run, and the clock runs, which is started now.
fn has_times(thread: &Thread) -> bool {
    if clock::forbidden().is_some() {
        return false;
    }
    thread.on_cpu.attach_for_light();
    if !thread.on_cpu.asks() {
        return false;
    }
    tick_clock::begin();
    tick_clock::unavailable().is_none()
}

/// Counts on a thread that has ended, where there is no row. `None` if there is no memory.
fn count_after_end(number: usize, counter: usize, count: u64) -> Option<bool> {
    if !room::is_left_for_end(1) {
        return None;
    }
    let mut lists = registry().lists.lock();
    let (rows, _) = lists.ended.of(&None, number + 1);
    let mut counts = Counts::default();
    counts[counter] = count;
    add_counts(&mut rows[number].sums, &counts);
    if counter == Row::CALLS {
        CALLS_AFTER_END.fetch_add(count, Relaxed);
    }
    Some(false)
}

/// In the child of a fork: forgets what the light probes of the parent's threads have left here.
#[cfg(all(unix, any(all(test, shuttle), not(miri))))] // no process is forked elsewhere
pub(super) fn start_from_zero() {
    check::take_left_behind();
    check::UNSPLIT.store(false, Relaxed);
    tick_clock::EPOCH.words.forget();
}
