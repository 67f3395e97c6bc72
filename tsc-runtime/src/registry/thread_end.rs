//! The records of a thread that ends, and the calls that other destructors make after that.

use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::light::check::end_light;
use super::reading::add_rest;
use super::shard::Shard;
use super::sheets::ThreadName;
use super::{CALLS_AFTER_END, Lists, Registry, UNRECORDED, in_cold_path, registry, room};
use crate::record::thread::{self, Thread};
use crate::record::totals::Totals;
use crate::record::{OwnedRecord, Record, contexts, light};
use crate::sync::thread_local;

/// The thread's shard: null, or from [`Arc::into_raw`].
///
/// Not a `RefCell`: a signal handler that ends the thread may run the destructor at any moment.
pub(super) struct Slot(Cell<*const Shard>);

thread_local! {
    static SLOT: Slot = const { Slot(Cell::new(ptr::null())) };
}

/// Calls `f` with this thread's slot, in the cold path. Returns `None` if the thread is ending.
pub(super) fn with_shard_slot<T>(f: impl FnOnce(&Slot) -> T) -> Option<T> {
    SLOT.try_with(f).ok()
}

impl Slot {
    /// This thread's shard in `registry`, if it has one. In the child of a fork, the slot may hold a shard of the parent's.
    pub(super) fn current(&self, registry: &Registry) -> Option<&Shard> {
        // SAFETY: null, or alive until the thread ends. Only the cold path comes here, and it does not nest.
        unsafe { self.0.get().as_ref() }.filter(|shard| ptr::eq(shard.home, registry))
    }

    pub(super) fn current_or_begin(&self, registry: &Registry, thread: &Thread) -> &Shard {
        if self.current(registry).is_none() {
            // The old shard is the parent's, whose registry is never freed either.
            self.0.set(Arc::into_raw(Shard::begin(registry, thread)));
        }
        // SAFETY: the pointer is to the shard that this thread has had or has just begun, which lives until the thread ends.
        unsafe { &*self.0.get() }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let thread = thread::this();
        end_light(light::this(), thread);
        thread.end();
        let shard = self.0.replace(ptr::null());
        if shard.is_null() {
            return;
        }
        // If a signal handler ends the thread while it is in the cold path, everything stays as it is.
        in_cold_path(|_| {
            let registry = registry();
            // SAFETY: made by `into_raw`, and taken from the slot just now. The registry has a reference of its own, and in the child of a
            // fork the parent's registry is never freed.
            let shard = unsafe { Arc::from_raw(shard) };
            if ptr::eq(shard.home, registry) {
                // A reader has copied the figures of ended threads, and is about to read this shard.
                let _reading = registry.reading.lock();
                registry.lists.lock().end_thread(&shard);
            }
        });
    }
}

impl Lists {
    /// Adds the thread's figures to those of ended threads. Records of running sections remain, because the sections point to them.
    fn end_thread(&mut self, shard: &Arc<Shard>) {
        self.live.retain(|live| !Arc::ptr_eq(live, shard));
        let mut own = shard.own.lock();
        if !room::is_left_for_end(own.records.iter().flatten().count()) {
            // Reports read it there.
            if self.lingering.try_reserve(1).is_ok() {
                self.lingering.push(Arc::clone(shard));
            }
            return;
        }
        let own = &mut *own;
        if let Some(contexts) = own.tree.take() {
            self.ended
                .tree
                .add(&own.taken_tree.rest(contexts.read(), false));
        }
        if let Some(mut light) = own.light.take() {
            self.ended.add_light(&shard.name, &light.rest(false));
        }
        let mut lingers = false;
        for slot in &mut own.records {
            match slot {
                Some(record) if record.is_running() => lingers = true,
                _ => self.end_record(&shard.name, slot, &own.taken),
            }
        }
        if lingers {
            self.lingering.push(Arc::clone(shard));
        }
    }

    /// Adds a record's figures to those of ended threads.
    fn end_record(&mut self, name: &ThreadName, slot: &mut Option<OwnedRecord>, taken: &[Totals]) {
        let Some(record) = slot.take() else { return };
        let (totals, _) = self.ended.of(name, record.id as usize + 1);
        add_rest(&record, taken, true, &mut totals[record.id as usize]);
    }
}

/// A section has stopped on a thread that has ended. Frees its record, unless more of its sections are running.
pub(crate) fn fold_lingering(record: NonNull<Record>) {
    // A section cannot stop inside the cold path. If it did, its record would stay.
    in_cold_path(|_| {
        let registry = registry();
        let _reading = registry.reading.lock();
        let mut lists = registry.lists.lock();
        let mut lingering = std::mem::take(&mut lists.lingering);
        lingering.retain(|shard| {
            let own = &mut *shard.own.lock();
            let is_it = |slot: &&mut Option<OwnedRecord>| {
                slot.as_deref()
                    .is_some_and(|known| NonNull::from(known) == record && !known.is_running())
            };
            if let Some(slot) = own.records.iter_mut().find(is_it) {
                lists.end_record(&shard.name, slot, &own.taken);
            }
            own.records.iter().any(Option::is_some)
        });
        lists.lingering = lingering;
    });
}

/// Adds the figures of a call whose record is for it alone, and frees that.
pub(crate) fn fold_orphan(record: NonNull<Record>) {
    // SAFETY: `find_here` has made it from a Box for a single call, which has ended.
    let record = unsafe { OwnedRecord::from_raw(record) };
    let entry = record.entry_pointer().cast_mut();
    let mut record = Some(record);
    // Freed in the cold path, because an annotated allocator would otherwise record the freeing in the same way, endlessly.
    let folded = in_cold_path(|_| {
        if !room::is_left_for_end(1) {
            return None;
        }
        CALLS_AFTER_END.fetch_add(1, Relaxed);
        let mut lists = registry().lists.lock();
        if let Some(record) = record.as_deref().filter(|_| contexts::are_recorded()) {
            let sums = record.totals(true).as_root();
            lists.ended.tree.add_root(record.id, &sums);
        }
        lists.end_record(&None, &mut record, &[]);
        drop(lists);
        // SAFETY: made from a Box, like the record, which alone pointed to it and is freed.
        drop(unsafe { Box::from_raw(entry) });
        Some(())
    });
    if folded.flatten().is_none() {
        UNRECORDED.fetch_add(1, Relaxed);
        std::mem::forget(record);
    }
}
