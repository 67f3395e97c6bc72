//! All callsites, the records of all live threads, and what the threads that ended have left.
//!
//! Two locks, taken in this order: the registry's, for the lists; a thread's own, for its records. A probe takes them in the cold
//! path only. A snapshot holds the registry's only while it copies the lists, so that threads may come and go meanwhile.

#![cfg(feature = "on")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64,
    Ordering::{Relaxed, SeqCst},
    fence,
};

use once_cell::sync::OnceCell;
use parking_lot::Mutex;

use crate::calibration::overhead;
use crate::process;
use crate::record::Record;
use crate::record::callsite::Callsite;
use crate::record::table::Entry;
use crate::record::thread::{self, Thread};
use crate::record::totals::Totals;
use crate::tsc::clock;

mod control;
#[cfg(unix)]
mod fork;
mod registration;
mod registration_costs;
mod shard;

pub(crate) use control::reset;
pub use control::{pause, resume};
#[cfg(unix)]
pub(crate) use fork::start_from_zero;
pub(crate) use registration::{add_cost_of_report, begin_report, registration_cost_since};
pub(crate) use shard::fold_orphan;

use registration::{add_registration_cost, begin_cold_path};
use shard::{Shard, THREAD_END, begin_thread, make_record};

/// Behind a pointer, so that the child of a fork can put a fresh one in the place of one whose lock may be taken for good.
static REGISTRY: OnceCell<AtomicPtr<Mutex<Registry>>> = OnceCell::new();
/// Callsite numbers given away. Number 0 is overhead calibration's.
static NUMBERS: AtomicU32 = AtomicU32::new(1);
/// Records made so far.
static RECORDS: AtomicU64 = AtomicU64::new(0);
/// Advanced by every reset; records of an older generation are forgotten.
static GENERATION: AtomicU64 = AtomicU64::new(0);
static PAUSED: AtomicBool = AtomicBool::new(false);
/// Calls that could not be recorded: they came from inside the registry's own work.
static UNRECORDED: AtomicU64 = AtomicU64::new(0);

#[derive(Default)]
struct Registry {
    /// By number; `None` for callsites that only a parent process has called.
    callsites: Vec<Option<&'static Callsite>>,
    /// By number: what ended threads left.
    ended: Vec<Totals>,
    live: Vec<Arc<Shard>>,
}

/// What the cold path found for a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    /// The thread's record.
    Record(*const Record),
    /// A record for this call alone: the thread is ending. To be given to [`fold_orphan`].
    Orphan(*const Record),
    /// None: paused, or called from within the cold path.
    Nothing,
}

fn registry() -> &'static Mutex<Registry> {
    let registry = REGISTRY.get_or_init(|| {
        process::install();
        AtomicPtr::new(Box::into_raw(Box::default()))
    });
    // SAFETY: made from a Box, here or in `start_from_zero`, and never freed.
    unsafe { &*registry.load(Relaxed) }
}

/// Finds or makes this thread's record of `callsite`.
pub(crate) fn find(callsite: &'static Callsite) -> Found {
    if PAUSED.load(Relaxed) {
        return Found::Nothing;
    }
    let thread = thread::this();
    let began = begin_cold_path(thread);
    let Some(_busy) = thread.enter_cold_path() else {
        UNRECORDED.fetch_add(1, Relaxed);
        return Found::Nothing;
    };
    // Should anything in here panic, the call goes unrecorded and the program on.
    let found =
        catch_unwind(AssertUnwindSafe(|| find_here(thread, callsite))).unwrap_or_else(|_| {
            UNRECORDED.fetch_add(1, Relaxed);
            Found::Nothing
        });
    add_registration_cost(thread, began);
    found
}

/// Gives `f` this thread's record of `callsite`, unless nothing is recorded now.
pub(crate) fn with_record(callsite: &'static Callsite, f: impl FnOnce(&Record)) {
    if let Some((_, record)) = thread::this().find(callsite.position()) {
        return f(record);
    }
    match find(callsite) {
        Found::Nothing => {}
        // SAFETY: what was found lives as long as the thread.
        Found::Record(record) => f(unsafe { &*record }),
        Found::Orphan(record) => {
            // SAFETY: what was found lives until it is folded.
            f(unsafe { &*record });
            fold_orphan(record);
        }
    }
}

fn find_here(thread: &Thread, callsite: &'static Callsite) -> Found {
    let number = number_of(callsite);
    overhead::calibrate(callsite);
    THREAD_END
        .try_with(|end| {
            let mut end = end.0.borrow_mut();
            let shard = match &*end {
                Some(shard) if ptr::eq(shard.home, registry()) => shard,
                _ => end.insert(begin_thread(thread)),
            };
            shard.catch_up();
            let found = shard.record(thread, callsite, number);
            // A reset or a pause either saw the table that was just put in use, or is seen here.
            fence(SeqCst);
            if !shard.is_current() || PAUSED.load(Relaxed) || clock::is_os_clock() {
                thread.invalidate();
            }
            found
        })
        .unwrap_or_else(|_| {
            let entry = Box::into_raw(Box::new(Entry::new()));
            // SAFETY: `fold_orphan` frees the entry, after the record.
            Found::Orphan(Box::into_raw(unsafe {
                make_record(callsite, number, entry)
            }))
        })
}

/// The callsite's number, given to it now if it has none; the registry knows it afterwards.
fn number_of(callsite: &'static Callsite) -> usize {
    let mut registry = registry().lock();
    let number = callsite.number().unwrap_or_else(|| {
        let number = NUMBERS.fetch_add(1, Relaxed);
        callsite.set_number(number);
        number
    }) as usize;
    if registry.callsites.len() <= number {
        registry.callsites.resize(number + 1, None);
        registry.ended.resize_with(number + 1, Totals::default);
    }
    registry.callsites[number] = Some(callsite);
    number
}

/// Every callsite that was called, with the totals of all threads.
pub(crate) fn totals() -> Vec<(&'static Callsite, Totals)> {
    let thread = thread::this();
    let busy = thread.enter_cold_path();
    let (callsites, mut totals, live) = {
        let registry = registry().lock();
        (
            registry.callsites.clone(),
            registry.ended.clone(),
            registry.live.clone(),
        )
    };
    for shard in live.iter().filter(|shard| shard.is_current()) {
        for record in shard.own.lock().records.iter().flatten() {
            if let Some(totals) = totals.get_mut(record.id as usize) {
                record.read(totals);
            }
        }
    }
    drop(busy);
    let called =
        |totals: &Totals| totals.calls() + totals.running + totals.polls + totals.cancelled != 0;
    callsites
        .into_iter()
        .zip(totals)
        .filter_map(|(callsite, totals)| {
            Some((callsite?, totals)).filter(|(_, totals)| called(totals))
        })
        .collect()
}

/// Calls that no record knows of.
pub(crate) fn unrecorded() -> u64 {
    UNRECORDED.load(Relaxed)
}

impl Registry {
    fn invalidate_threads(&self) {
        fence(SeqCst);
        for shard in &self.live {
            // SAFETY: see `Shard`: this is under the registry's lock.
            unsafe { (*shard.thread).invalidate() };
        }
    }
}
