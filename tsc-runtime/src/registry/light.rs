//! Light probes in the registry: how a thread gets its rows, and what becomes of them when it ends.

use std::sync::atomic::AtomicI64;

use super::shard::Shard;
use super::thread_end::with_shard_slot;
use super::{
    BEGUN, CALLS_AFTER_END, NUMBERS, PAUSED, UNRECORDED, add_registration_cost, begin_cold_path,
    in_cold_path, number_of, registry, room,
};
use crate::calibration::light_cost;
use crate::on_cpu;
use crate::record::callsite::Callsite;
use crate::record::light::{self, Counts, LightRecord, LightThread, Row};
use crate::record::thread::{self, Thread};
use crate::sync::atomic::{
    AtomicBool,
    Ordering::{Relaxed, SeqCst},
    fence,
};
use crate::tick_clock;
use crate::tsc::{TscUnavailable, clock};

/// Whether the process has light probes.
static IN_USE: AtomicBool = AtomicBool::new(false);
/// CPU time in ticks of threads that have ended before a tick could give it to a function. The first tick of another thread takes it, so that
/// functions on many short-lived threads get their share.
static LEFT_BEHIND: AtomicI64 = AtomicI64::new(0);

/// Whether time off the CPU of some thread could not be divided into blocked and waiting.
static UNSPLIT: AtomicBool = AtomicBool::new(false);

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

pub(crate) fn leave_behind(ticks: i64) {
    LEFT_BEHIND.fetch_add(ticks, Relaxed);
}

pub(crate) fn take_left_behind() -> i64 {
    LEFT_BEHIND.swap(0, Relaxed)
}

pub(super) fn note_unsplit() {
    UNSPLIT.store(true, Relaxed);
}

/// Whether light functions have time off the CPU that is not divided into blocked and waiting.
pub(crate) fn is_unsplit() -> bool {
    UNSPLIT.load(Relaxed)
}

/// Whether the process has light probes, so that timed calls link frames, too.
pub(crate) fn has_light_probes() -> bool {
    // The unit tests of timed probes share their process with those of light ones, but not their threads.
    #[cfg(test)]
    if light::this().paths().is_none() {
        return false;
    }
    IN_USE.load(Relaxed)
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
    let found = in_cold_path(|thread| {
        if !room::is_left_for_call(true) {
            return None;
        }
        // If anything in here panics, the call is not counted, and the program continues.
        let found = std::panic::catch_unwind(|| {
            BEGUN.get(begin);
            make_row(thread::this(), callsite)
        });
        add_registration_cost(thread, began);
        found.ok()
    });
    found.flatten().unwrap_or_else(|| {
        UNRECORDED.fetch_add(1, Relaxed);
        FoundRow::Nothing
    })
}

/// Whether the thread has the row, and has only noticed a pause that is over, or a reset. Neither allocates nor waits: a signal handler may
/// have interrupted the allocator.
fn is_found_again(callsite: &Callsite) -> bool {
    let light = light::this();
    if !light.has_invalidated(callsite.row()) {
        return false;
    }
    light.validate();
    keep_valid(light);
    true
}

/// Sends the next start through the cold path if a pause has come in between. Either the pause has seen the rows that were just put in use,
/// or this function sees the pause.
fn keep_valid(light: &LightThread) {
    fence(SeqCst);
    if PAUSED.load(Relaxed) {
        light.invalidate();
    }
}

fn make_row(thread: &Thread, callsite: &'static Callsite) -> FoundRow {
    if number_of(callsite).is_none() {
        return FoundRow::Nothing;
    }
    light_cost::calibrate(callsite);
    let registry = registry();
    if !IN_USE.swap(true, SeqCst) {
        // Timed calls link frames from now on.
        registry.lists.lock().invalidate_threads();
    }
    with_shard_slot(|slot| {
        let shard = slot.current_or_begin(registry, thread);
        if shard.begin_light(thread) {
            FoundRow::Own
        } else {
            FoundRow::Nothing
        }
    })
    .unwrap_or(FoundRow::OfEndedThreads)
}

impl Shard {
    /// Gives the thread rows for all callsites that have numbers, and begins its account if that is not done. Returns false if the system has
    /// no memory. For the shard's own thread.
    pub(super) fn begin_light(&self, thread: &Thread) -> bool {
        let light = light::this();
        let mut own = self.own.lock();
        let begins = own.light.is_none();
        if begins {
            own.light = LightRecord::new();
        }
        // From here on the record stays where it is: the thread points into it.
        let Some(record) = &mut own.light else {
            return false;
        };
        if begins && has_times(thread) {
            light.begin(&thread.detector, &record.paths);
            let number = light.last_tick().number;
            light.account.begin(on_cpu::now(), number);
        } else if begins {
            light.begin_to_count();
        }
        record.rows.reserve(NUMBERS.load(Relaxed) as usize);
        light.set_rows(record.rows.current());
        keep_valid(light);
        true
    }
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
        let row = lists.ended_light.of(&None).row(number);
        row.counts.add(&Counts::of(counter, count));
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
    LEFT_BEHIND.store(0, Relaxed);
    UNSPLIT.store(false, Relaxed);
    light::this().forget_rows();
}
