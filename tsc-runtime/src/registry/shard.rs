//! A thread's part of the registry: its records, its table, and what becomes of them when it ends.

use std::cell::RefCell;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;

use super::{Found, GENERATION, RECORDS, Registry, registry};
use crate::calibration::overhead;
use crate::interruption;
use crate::record::Record;
use crate::record::callsite::Callsite;
use crate::record::table::{Entry, Table};
use crate::record::thread::{self, Thread};
use crate::registry::registration_costs::RegistrationCosts;
use crate::tsc::clock;

/// A live thread's part.
pub(super) struct Shard {
    pub(super) home: *const Mutex<Registry>,
    pub(super) thread: *const Thread,
    generation: AtomicU64,
    pub(super) own: Mutex<Own>,
}

// SAFETY: `home` is only compared. `thread` is used under the registry's lock while the shard is among its live ones, which it
// leaves before the thread ends, and `Thread::invalidate` may be called by any thread. `Own` points to what it owns.
unsafe impl Send for Shard {}
// SAFETY: as above.
unsafe impl Sync for Shard {}

#[derive(Default)]
pub(super) struct Own {
    /// By callsite number; `None` where the callsite was not called on the thread.
    pub(super) records: Vec<Option<Box<Record>>>,
    /// Behind the records, which point into it and so are dropped first.
    table: Table,
    pub(super) registration_costs: RegistrationCosts,
}

pub(super) fn begin_thread(thread: &Thread) -> Arc<Shard> {
    // Where the counter may not be read, the detector cannot note when it was armed, and the system's clock may read the counter itself.
    if clock::availability().is_ok() {
        thread.detector.attach();
        if interruption::unavailable().is_none() {
            thread.on_cpu.attach();
        }
    }
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
pub(super) unsafe fn make_record(
    callsite: &Callsite,
    number: usize,
    entry: *const Entry,
) -> Box<Record> {
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
    pub(super) fn catch_up(&self) {
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

    pub(super) fn is_current(&self) -> bool {
        self.generation.load(Relaxed) == GENERATION.load(Relaxed)
    }

    pub(super) fn record(&self, thread: &Thread, callsite: &Callsite, number: usize) -> Found {
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

/// Adds the figures of a call that [`Found::Orphan`] was found for, and frees its record.
pub(crate) fn fold_orphan(record: *const Record) {
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
pub(super) struct ThreadEnd(pub(super) RefCell<Option<Arc<Shard>>>);

thread_local! {
    pub(super) static THREAD_END: ThreadEnd = const { ThreadEnd(RefCell::new(None)) };
}

impl Drop for ThreadEnd {
    fn drop(&mut self) {
        let Some(shard) = self.0.take() else { return };
        let thread = thread::this();
        thread.invalidate();
        thread.detector.detach();
        thread.on_cpu.detach();
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
