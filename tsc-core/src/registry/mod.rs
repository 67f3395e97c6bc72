//! All callsites, the records of all running threads, and the figures of threads that have ended.
//!
//! There are three locks. Who waits for several takes them in this order: `reading`, for reading or taking the figures of all threads;
//! `lists`, for the lists; and each thread's own lock, for its records. A probe takes the last two in the cold path, and `reading` only for a
//! reset that was put off, or if what stops was running when its thread ended. Reading holds `lists` only while it copies or marks the lists,
//! so that threads may begin and callsites may be added meanwhile. A thread that ends does not wait for a reading, which could miss
//! figures that move: those stay in the thread's records until a later thread that ends moves them. Inside any of the locks, a thread may
//! wait until nobody reads the words of the clock (`tick_clock/words.rs`), and whoever reads these waits for nothing.
//!
//! All of this runs in the cold path ([`in_cold_path`]), which marks the thread as busy. A call that is reached from there, in an
//! annotated allocator or a signal handler, takes none of the locks: it is recorded if the thread's table has its callsite, and otherwise
//! counted as unrecorded. Requests to control the recording are put off or refused. So no thread ever waits for a lock that it holds.

#![cfg(measuring)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::Arc;

use crate::calibration::overhead;
use crate::process::{self, PerProcess};
use crate::record::callsite::{self, Callsite};
use crate::record::table::{Entry, Table};
use crate::record::thread::{self, Thread};
use crate::record::{Record, Sums};
use crate::sync::Mutex;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use crate::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, fence};
use crate::tsc::{Ticks, clock};

mod control;
mod filter;
#[cfg(all(test, shuttle))]
mod interleavings;
mod light;
mod reading;
mod registration;
pub(crate) mod room;
mod shard;
mod sheets;
mod thread_end;
mod tree;
#[cfg(all(fuzzing, feature = "__fuzzing"))]
#[path = "../../../fuzz/runtime/registry.rs"]
mod understood;

pub(crate) use control::{do_what_was_put_off, reset};
pub use control::{pause, resume};
pub(crate) use filter::full_name;
pub(crate) use light::{check_light, find_row, is_unsplit as is_light_unsplit};
pub(crate) use reading::{figures, take_figures};
pub(crate) use registration::{as_overhead, as_own_work, as_report, begin_cold_path};
pub(crate) use sheets::{Recorded, ThreadName};
pub(crate) use thread_end::release;
pub use tree::record as record_tree;
#[cfg(all(fuzzing, feature = "__fuzzing"))]
pub(crate) use understood::understood;

use registration::{add_registration_cost, as_registration};
use shard::{Shard, make_record};
use sheets::Sheets;
use thread_end::with_shard_slot;

static REGISTRY: PerProcess<Registry> = PerProcess::new();
/// Whether the process has begun to measure.
static BEGUN: AtomicBool = AtomicBool::new(false);
/// The number of callsite numbers in use. Number 0 is for calibrating the overhead.
static NUMBERS: AtomicU32 = AtomicU32::new(1);
/// The number of records made so far.
static RECORDS: AtomicU64 = AtomicU64::new(0);
static PAUSED: AtomicBool = AtomicBool::new(false);
/// Calls that could not be recorded, because they happened inside the registry's own work, or because there was no memory.
static UNRECORDED: AtomicU64 = AtomicU64::new(0);

/// Calls on threads that were ending, after their records had been folded.
static CALLS_AFTER_END: AtomicU64 = AtomicU64::new(0);
/// Whether the process has light probes.
static HAS_LIGHT_PROBES: AtomicBool = AtomicBool::new(false);

#[derive(Default)]
struct Registry {
    reading: Mutex<()>,
    lists: Mutex<Lists>,
}

#[derive(Default)]
struct Lists {
    /// The figures of threads that have ended.
    ended: Sheets,
    live: Vec<Arc<Shard>>,
    /// The records of sections that were still running when their threads ended.
    lingering: Vec<Arc<Shard>>,
    /// Threads that ended during a reading. No section of theirs is running.
    unmoved: Vec<Arc<Shard>>,
    /// Tables of ended threads, for others.
    spare: Vec<Table>,
}

/// Whether the process has light probes, so that timed calls link frames, too.
pub(crate) fn has_light_probes() -> bool {
    // The unit tests of timed probes share their process with those of light ones, but not their threads.
    #[cfg(test)]
    if crate::record::light::this().paths().is_none() {
        return false;
    }
    HAS_LIGHT_PROBES.load(Relaxed)
}

/// Called in the child of a fork, where all figures are the parent's.
#[cfg(all(unix, any(all(test, shuttle), not(miri))))] // no process is forked elsewhere
pub(crate) fn start_from_zero() {
    REGISTRY.forget();
    BEGUN.store(false, Relaxed);
    UNRECORDED.store(0, Relaxed);
    callsite::finish_registering();
    light::start_from_zero();
    forget_parents(thread::this());
}

/// In the child of a fork: the thread's next call finds out that it has no figures here.
fn forget_parents(thread: &Thread) {
    thread.forget_table();
    // The file descriptor belongs to the parent's thread.
    thread.on_cpu.detach();
    crate::record::light::this().forget_rows();
}

/// Whether recording is paused.
#[inline]
pub(crate) fn is_paused() -> bool {
    PAUSED.load(Relaxed)
}

/// To be called in the cold path.
fn registry() -> &'static Registry {
    REGISTRY.get()
}

/// Runs `f` with the thread marked as busy, and then the requests that were put off. Returns `None` if the thread is already busy: then
/// this is a signal handler or an allocator that was reached from the cold path.
fn in_cold_path<T>(f: impl FnOnce(&Thread) -> T) -> Option<T> {
    busy_with(f).inspect(|_| control::do_what_was_put_off())
}

/// The same, without the requests that were put off.
fn busy_with<T>(f: impl FnOnce(&Thread) -> T) -> Option<T> {
    let thread = thread::this();
    let _busy = thread.enter_cold_path()?;
    Some(f(thread))
}

/// Finds or makes this thread's record of `callsite`, which is to be given to [`release`]. `begin` is run before the process's first record is
/// made. `None` if recording is paused, or if the call comes from within the cold path.
pub(crate) fn find(callsite: &'static Callsite, begin: fn()) -> Option<NonNull<Record>> {
    let thread = thread::this();
    if let Some((_, record)) = thread.find(callsite.position()) {
        return Some(record.into());
    }
    if PAUSED.load(Relaxed) || callsite.is_left_out() {
        return None;
    }
    let began = begin_cold_path(thread);
    if let Some(Some(known)) = busy_with(|thread| find_known(thread, callsite, began)) {
        return Some(known);
    }
    register(callsite, began, begin, |thread| find_here(thread, callsite))
}

/// Runs `make` in the cold path, at the first call of a callsite. While the thread makes a report, if there is no memory, or if anything in here
/// panics, the call is not recorded, and the program continues.
fn register<T>(
    callsite: &Callsite,
    began: Ticks,
    begin: fn(),
    make: impl FnOnce(&Thread) -> Option<T>,
) -> Option<T> {
    // The annotated function may read it.
    let _errno = process::Errno::save();
    let made = in_cold_path(|thread| {
        // A signal handler may have interrupted the allocator.
        if thread.is_reporting() {
            return None;
        }
        if is_to_allocate(thread, callsite) && !room::is_left_for_call() {
            return None;
        }
        light::begin_own_work(thread);
        let before = Sums::of(thread);
        let begin_and_make = AssertUnwindSafe(|| {
            // The first threads may all do it. None waits, because in the child of a fork the other thread may not exist.
            if !BEGUN.load(Acquire) {
                begin();
                BEGUN.store(true, Release);
            }
            make(thread)
        });
        let made = as_registration(|| catch_unwind(begin_and_make));
        add_registration_cost(thread, began, before);
        light::end_own_work(thread);
        made.ok().flatten()
    });
    let made = made.flatten();
    // The calls of calibration have the number 0. They find no record where another thread has invalidated this one's table.
    if made.is_none() && !callsite.is_left_out() && callsite.number() != Some(0) {
        UNRECORDED.fetch_add(1, Relaxed);
    }
    made
}

/// Whether a call may take memory from the program's allocator: the first one of a thread or of a kind of probe does. The others must not,
/// because they come in the middle of the program's work: see [`Arena`](crate::record::arena::Arena).
fn is_to_allocate(thread: &Thread, callsite: &Callsite) -> bool {
    let has_light_probes = has_light_probes();
    let is_unknown = |fence| !overhead::is_known(fence);
    let is_unusual = || callsite.fence().is_some_and(is_unknown) || filter::is_set();
    !has_begun(thread, callsite.is_light() || has_light_probes)
        || has_light_probes && !callsite.is_light() && !overhead::is_mixed()
        || callsite.number().is_none() && (cfg!(feature = "pmu") || is_unusual())
}

/// Whether the thread has a shard, and an account if it is to have light probes.
fn has_begun(thread: &Thread, is_with_light: bool) -> bool {
    let is_light = crate::record::light::this().has_begun();
    let may_have_begun = is_light || thread.has_table() && !is_with_light;
    // Asked before the slot, because a thread's first use of that allocates.
    may_have_begun
        && with_shard_slot(|slot| slot.current(REGISTRY.get_if_made()?).map(drop)).flatten()
            == Some(())
}

/// Gives `f` this thread's record of `callsite`, unless nothing is recorded now. `begin` as in [`find`].
pub(crate) fn with_record(callsite: &'static Callsite, begin: fn(), f: impl FnOnce(&Record)) {
    if let Some(record) = find(callsite, begin) {
        // SAFETY: a record lives as long as the thread, or until it is released.
        f(unsafe { record.as_ref() });
        release(record);
    }
}

/// The thread's record, if the callsite was called on this thread before and there was a reset or a pause since. Neither allocates nor
/// waits: a signal handler may have interrupted the allocator, and the holder of a lock may be waiting for it.
fn find_known(thread: &Thread, callsite: &Callsite, began: Ticks) -> Option<NonNull<Record>> {
    // Before anything else: a thread's first use of its slot allocates.
    let (_, record) = thread.find_invalidated(callsite.position())?;
    with_shard_slot(|slot| {
        let registry = REGISTRY.get_if_made()?;
        let shard = slot.current(registry)?;
        if has_light_probes() && !thread.is_mixed() {
            // The thread needs an account first.
            return None;
        }
        // If it is locked, another thread is reading the records. Then this record is used as it is, and the next call tries again.
        if let Some(mut own) = shard.own.try_lock() {
            own.forget_taken();
            // Under the lock, as in `Shard::record`.
            thread.validate();
            drop(own);
            keep_valid(thread, shard);
            if thread.is_mixed() {
                // Otherwise each call would find its word stale.
                light::validate();
            }
        }
        add_registration_cost(thread, began, Sums::of(thread));
        Some(record.into())
    })?
}

/// Sends the next call through the cold path if a pause, the first light probe or a fork has come in between.
fn keep_valid(thread: &Thread, shard: &Shard) {
    if is_paused_by_now() || clock::is_os_clock() || has_light_probes() && !thread.is_mixed() {
        thread.invalidate();
    }
    shard.forget_if_parents(thread);
}

/// Asked after a table was put in use. Either a pause has seen the table, or this sees the pause.
fn is_paused_by_now() -> bool {
    fence(SeqCst);
    PAUSED.load(Relaxed)
}

/// `None` if the callsite is left out, or if there is no memory.
fn find_here(thread: &Thread, callsite: &'static Callsite) -> Option<NonNull<Record>> {
    tree::decide();
    if has_light_probes() {
        overhead::begin_to_mix();
    }
    let number = number_of(callsite)?;
    let registry = registry();
    with_shard_slot(|slot| {
        let shard = slot.current_or_begin(registry, thread);
        if has_light_probes() {
            shard.begin_light(thread);
        }
        let record = shard.record(thread, callsite, number)?;
        keep_valid(thread, shard);
        Some(record)
    })
    .unwrap_or_else(|| {
        let entry = Box::into_raw(Box::new(Entry::new()));
        // SAFETY: `release` frees both, the entry after the record.
        let record = unsafe { make_record(callsite, number, entry) };
        Some(Box::leak(Box::new(record)).into())
    })
}

/// The callsite's number, which it gets now if it has none, and what its probes cost is measured. `None` if it is left out.
fn number_of(callsite: &'static Callsite) -> Option<usize> {
    let is_left_out = callsite.number().is_none() && filter::leaves_out(callsite);
    if !is_left_out {
        overhead::calibrate(callsite.kind());
    }
    if callsite.number().is_none() {
        // Not under the lock: a library that is being loaded may wait for the lock in an annotated initializer.
        let addresses = callsite.addresses();
        addresses.into_iter().for_each(process::keep_mapped);
    }
    let _lists = registry().lists.lock();
    if is_left_out {
        if !callsite.is_left_out() {
            callsite.leave_out();
        }
        return None;
    }
    let number = callsite.number().unwrap_or_else(|| {
        let number = NUMBERS.fetch_add(1, Relaxed);
        callsite.set_number(number);
        number
    });
    Some(number as usize)
}

/// The callsites that were called and left out.
pub(crate) fn left_out() -> Vec<&'static Callsite> {
    let callsites = callsite::registered().filter(|callsite| callsite.is_left_out());
    let mut callsites: Vec<_> = callsites.collect();
    callsites.reverse();
    callsites
}

/// The number of calls on threads that were ending. On the thread that ends the process, these are the ones in handlers at exit.
pub(crate) fn calls_after_end() -> u64 {
    CALLS_AFTER_END.load(Relaxed)
}
