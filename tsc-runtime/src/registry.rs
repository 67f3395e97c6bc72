//! All callsites, the records of all live threads, and what the threads that ended have left.
//!
//! Two locks, taken in this order: the registry's, for the lists; a thread's own, for its records. A probe takes them in the cold
//! path only. A snapshot holds the registry's only while it copies the lists, so that threads may come and go meanwhile.

use std::cell::RefCell;
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

use crate::callsite::Callsite;
use crate::cold_costs::ColdCosts;
use crate::record::Record;
use crate::table::{Entry, Table};
use crate::thread::{self, Thread};
use crate::totals::Totals;
use crate::tsc::Ticks;
use crate::{clock, hooks, overhead};

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

/// A live thread's part.
struct Shard {
    home: *const Mutex<Registry>,
    thread: *const Thread,
    generation: AtomicU64,
    own: Mutex<Own>,
}

// SAFETY: `home` is only compared. `thread` is used under the registry's lock while the shard is among its live ones, which it
// leaves before the thread ends, and `Thread::invalidate` may be called by any thread. `Own` points to what it owns.
unsafe impl Send for Shard {}
// SAFETY: as above.
unsafe impl Sync for Shard {}

#[derive(Default)]
struct Own {
    /// By callsite number; `None` where the callsite was not called on the thread.
    records: Vec<Option<Box<Record>>>,
    /// Behind the records, which point into it and so are dropped first.
    table: Table,
    cold_costs: ColdCosts,
}

/// What the cold path found for a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found {
    /// The thread's record.
    Record(*const Record),
    /// A record for this call alone: the thread is ending. To be given to [`fold_late`].
    Late(*const Record),
    /// None: paused, or called from within the cold path.
    Nothing,
}

fn registry() -> &'static Mutex<Registry> {
    let registry = REGISTRY.get_or_init(|| {
        hooks::install();
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
    let Some(_busy) = thread.enter_cold_path() else {
        UNRECORDED.fetch_add(1, Relaxed);
        return Found::Nothing;
    };
    let began = clock::now();
    // Should anything in here panic, the call goes unrecorded and the program on.
    let found =
        catch_unwind(AssertUnwindSafe(|| find_here(thread, callsite))).unwrap_or_else(|_| {
            UNRECORDED.fetch_add(1, Relaxed);
            Found::Nothing
        });
    add_cold_cost(thread, began);
    found
}

/// What this thread has done since `began`, in the cold path, is overhead to the calls in flight, and none of a probe's.
fn add_cold_cost(thread: &Thread, began: Ticks) {
    let before = thread.overhead.get();
    let now = clock::now();
    let spent = now.wrapping_sub(began);
    thread.overhead.set(before.wrapping_add(spent));
    with_cold_costs(|costs| costs.add(before, spent));
    thread.detector.note_cold_path(now);
}

/// The same of a report.
pub(crate) fn add_cost_of_report(began: Ticks) {
    let thread = thread::this();
    let busy = thread.enter_cold_path();
    add_cold_cost(thread, began);
    drop(busy);
}

/// What of this thread's overhead beyond `overhead_then` registrations and reports have added.
pub(crate) fn cold_cost_since(overhead_then: u64) -> u64 {
    let Some(_busy) = thread::this().enter_cold_path() else {
        return 0;
    };
    with_cold_costs(|costs| costs.since(overhead_then)).unwrap_or(0)
}

/// In the cold path, for a signal handler must not want the lock again. `None` on a thread that has recorded nothing, or is ending,
/// and in the child of a fork, where the lock may be taken for good.
fn with_cold_costs<T>(f: impl FnOnce(&mut ColdCosts) -> T) -> Option<T> {
    THREAD_END
        .try_with(|end| {
            let end = end.0.try_borrow().ok()?;
            let shard = end.as_ref()?;
            ptr::eq(shard.home, registry()).then(|| f(&mut shard.own.lock().cold_costs))
        })
        .ok()?
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
        Found::Late(record) => {
            // SAFETY: what was found lives until it is folded.
            f(unsafe { &*record });
            fold_late(record);
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
            if !shard.is_current() || PAUSED.load(Relaxed) || clock::is_slow() {
                thread.invalidate();
            }
            found
        })
        .unwrap_or_else(|_| {
            let entry = Box::into_raw(Box::new(Entry::new()));
            // SAFETY: `fold_late` frees the entry, after the record.
            Found::Late(Box::into_raw(unsafe {
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

fn begin_thread(thread: &Thread) -> Arc<Shard> {
    thread.detector.attach();
    let shard = Arc::new(Shard {
        home: registry(),
        thread,
        generation: AtomicU64::new(GENERATION.load(Relaxed)),
        own: Mutex::default(),
    });
    registry().lock().live.push(Arc::clone(&shard));
    shard
}

/// # Safety
///
/// `entry` outlives the record.
unsafe fn make_record(callsite: &Callsite, number: usize, entry: *const Entry) -> Box<Record> {
    let order = RECORDS.fetch_add(1, Relaxed) + 1;
    // SAFETY: the caller's.
    let record = Box::new(unsafe { Record::new(number as u32, order, entry) });
    let overhead = overhead::of(callsite.fence());
    record.visible.set(overhead.visible.round() as u64);
    record.cost.set(overhead.total.round() as u64);
    record.nesting.set(overhead.nesting.round() as u64);
    record
}

impl Shard {
    /// Forgets what a reset has declared forgotten. For the shard's own thread.
    fn catch_up(&self) {
        let generation = GENERATION.load(Relaxed);
        if self.generation.load(Relaxed) != generation {
            self.own
                .lock()
                .records
                .iter()
                .flatten()
                .for_each(|record| record.clear());
            self.generation.store(generation, Relaxed);
        }
    }

    fn is_current(&self) -> bool {
        self.generation.load(Relaxed) == GENERATION.load(Relaxed)
    }

    fn record(&self, thread: &Thread, callsite: &Callsite, number: usize) -> Found {
        let mut own = self.own.lock();
        let Own { records, table, .. } = &mut *own;
        if records.len() <= number {
            records.resize_with(number + 1, || None);
        }
        let entry = table.entry(number);
        let record: *const Record = &raw const **records[number].get_or_insert_with(|| {
            // SAFETY: the table is dropped after the records, or not at all.
            unsafe { make_record(callsite, number, entry) }
        });
        entry.set_record(record);
        thread.set_table(table);
        Found::Record(record)
    }
}

/// Adds the figures of a call that [`Found::Late`] was found for, and frees its record.
pub(crate) fn fold_late(record: *const Record) {
    // SAFETY: made by `find_here` from a Box for one call, which has ended.
    let record = unsafe { Box::from_raw(record.cast_mut()) };
    let entry = ptr::from_ref(record.entry()).cast_mut();
    let thread = thread::this();
    let busy = thread.enter_cold_path();
    if let Some(totals) = registry().lock().ended.get_mut(record.id as usize) {
        record.read(totals);
    }
    // Inside, for an annotated allocator would record its freeing in the same way, without end.
    drop(record);
    // SAFETY: as the record, which alone pointed to it.
    drop(unsafe { Box::from_raw(entry) });
    drop(busy);
}

/// The registry's part of a thread, taken out again when the thread ends.
struct ThreadEnd(RefCell<Option<Arc<Shard>>>);

thread_local! {
    static THREAD_END: ThreadEnd = const { ThreadEnd(RefCell::new(None)) };
}

impl Drop for ThreadEnd {
    fn drop(&mut self) {
        let Some(shard) = self.0.take() else { return };
        let thread = thread::this();
        thread.invalidate();
        thread.detector.detach();
        match thread.enter_cold_path() {
            Some(_busy) if ptr::eq(shard.home, registry()) => end_thread(&shard),
            // A signal handler ends the thread while it holds a lock, or this is the child of a fork: leave all as it is.
            _ => std::mem::forget(shard),
        }
    }
}

fn end_thread(shard: &Arc<Shard>) {
    let mut registry = registry().lock();
    registry.live.retain(|live| !Arc::ptr_eq(live, shard));
    if shard.is_current() {
        let mut own = shard.own.lock();
        let Own { records, table, .. } = &mut *own;
        for record in records {
            let Some(known) = record else { continue };
            if let Some(totals) = registry.ended.get_mut(known.id as usize) {
                known.read(totals);
            }
            // A probe that never stops still points to them.
            if known.is_running() {
                std::mem::forget((record.take(), std::mem::take(table)));
            }
        }
    }
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

/// Forgets all that was recorded; see [`reset`](crate::reset).
pub(crate) fn reset() {
    let thread = thread::this();
    let busy = thread.enter_cold_path();
    let mut registry = registry().lock();
    GENERATION.fetch_add(1, Relaxed);
    UNRECORDED.store(0, Relaxed);
    registry
        .ended
        .iter_mut()
        .for_each(|totals| *totals = Totals::default());
    registry.invalidate_threads();
    drop(registry);
    // This thread's calls in flight count from here on; the others' threads catch up at their next call.
    let _ = THREAD_END.try_with(|end| end.0.borrow().iter().for_each(|shard| shard.catch_up()));
    drop(busy);
}

/// Stops recording, on all threads: calls that start from now on are not recorded, until [`resume`]. Calls in flight are.
pub fn pause() {
    set_paused(true);
}

/// Records again, after [`pause`].
pub fn resume() {
    set_paused(false);
}

fn set_paused(paused: bool) {
    PAUSED.store(paused, Relaxed);
    let thread = thread::this();
    let busy = thread.enter_cold_path();
    registry().lock().invalidate_threads();
    drop(busy);
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

/// In the child of a fork: the lock may be taken by a thread that is not here any more, and the figures are the parent's.
#[cfg(unix)] // elsewhere no process is forked
pub(crate) fn start_from_zero() {
    if let Some(registry) = REGISTRY.get() {
        let thread = thread::this();
        let busy = thread.enter_cold_path();
        registry.store(Box::into_raw(Box::default()), Relaxed);
        overhead::start_from_zero();
        UNRECORDED.store(0, Relaxed);
        thread.invalidate();
        drop(busy);
    }
}
