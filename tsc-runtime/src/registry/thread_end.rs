//! What becomes of a thread's records when it ends, and of the calls that other destructors make after that.

use std::cell::Cell;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::shard::Shard;
use super::sheets::ThreadName;
use super::{Lists, Registry, UNRECORDED, in_cold_path, registry};
use crate::record::contexts;
use crate::record::thread::{self, Thread};
use crate::record::{OwnedRecord, Record};

/// Where a thread has its shard: null, or from [`Arc::into_raw`].
///
/// No `RefCell`: a signal handler that ends the thread runs the destructor in the midst of anything.
pub(super) struct Slot(Cell<*const Shard>);

thread_local! {
    static SLOT: Slot = const { Slot(Cell::new(ptr::null())) };
}

/// Gives `f` this thread's slot, in the cold path; `None` when the thread is ending.
pub(super) fn with_shard_slot<T>(f: impl FnOnce(&Slot) -> T) -> Option<T> {
    SLOT.try_with(f).ok()
}

impl Slot {
    /// This thread's shard in `registry`, if it has one: in the child of a fork it may have one of the parent's.
    pub(super) fn current(&self, registry: &Registry) -> Option<&Shard> {
        // SAFETY: null, or it lives until the thread ends: only the cold path comes here, and not from within itself.
        unsafe { self.0.get().as_ref() }.filter(|shard| ptr::eq(shard.home, registry))
    }

    pub(super) fn current_or_begin(&self, registry: &Registry, thread: &Thread) -> &Shard {
        if self.current(registry).is_none() {
            // What was there is the parent's, whose registry is never freed either.
            self.0.set(Arc::into_raw(Shard::begin(registry, thread)));
        }
        // SAFETY: as in `current`; there is one now.
        unsafe { &*self.0.get() }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        thread::this().end();
        let shard = self.0.replace(ptr::null());
        if shard.is_null() {
            return;
        }
        // If a signal handler ends the thread while it is in the cold path, all is left as it is.
        in_cold_path(|_| {
            let registry = registry();
            // SAFETY: made by `into_raw` and given up just now. The registry it is in has a share of its own, and in the child of
            // a fork that one is never freed.
            let shard = unsafe { Arc::from_raw(shard) };
            if ptr::eq(shard.home, registry) {
                // Who reads has copied what ended threads left, and is about to look into this shard.
                let _reading = registry.reading.lock();
                registry.lists.lock().end_thread(registry, &shard);
            }
        });
    }
}

impl Lists {
    /// Adds what the thread leaves to what ended threads have left. Records of sections that are running linger, for their sections
    /// point to them.
    fn end_thread(&mut self, registry: &Registry, shard: &Arc<Shard>) {
        self.live.retain(|live| !Arc::ptr_eq(live, shard));
        let mut own = shard.own.lock();
        own.catch_up(registry.generation());
        if let Some(tree) = &mut own.tree {
            self.ended_tree.add(tree.rest());
            tree.forget();
        }
        let mut lingers = false;
        for slot in &mut own.records {
            match slot {
                Some(record) if record.is_running() => lingers = true,
                _ => self.end_record(&shard.name, slot),
            }
        }
        if lingers {
            self.lingering.push(Arc::clone(shard));
        }
    }

    /// Adds what a record has to what was left.
    fn end_record(&mut self, name: &ThreadName, slot: &mut Option<OwnedRecord>) {
        let Some(record) = slot.take() else { return };
        let sheet = self.ended.of(name, self.callsites.len());
        if let Some(totals) = sheet.get_mut(record.id as usize) {
            record.read(totals, true);
        }
    }
}

/// A section has stopped on a thread that has ended: frees its record, unless more of them are running.
pub(crate) fn fold_lingering(record: *const Record) {
    // A section cannot stop inside the cold path; were it so, its record would linger on.
    in_cold_path(|_| {
        let registry = registry();
        let _reading = registry.reading.lock();
        let mut lists = registry.lists.lock();
        let lingering = std::mem::take(&mut lists.lingering);
        let mut rest = Vec::with_capacity(lingering.len());
        for shard in lingering {
            let mut own = shard.own.lock();
            own.catch_up(registry.generation());
            let is_it = |slot: &&mut Option<OwnedRecord>| {
                slot.as_deref()
                    .is_some_and(|known| ptr::eq(known, record) && !known.is_running())
            };
            if let Some(slot) = own.records.iter_mut().find(is_it) {
                lists.end_record(&shard.name, slot);
            }
            let lingers = own.records.iter().any(Option::is_some);
            drop(own);
            if lingers {
                rest.push(shard);
            }
        }
        lists.lingering = rest;
    });
}

/// Adds the figures of a call that [`Found::Orphan`](super::Found::Orphan) was found for, and frees its record.
pub(crate) fn fold_orphan(record: *const Record) {
    // SAFETY: made by `find_here` from a Box for one call, which has ended.
    let record = unsafe { OwnedRecord::from_raw(record) };
    let entry = record.entry_pointer().cast_mut();
    let mut record = Some(record);
    // Freed inside, for an annotated allocator would record its freeing in the same way, without end.
    let folded = in_cold_path(|_| {
        let mut lists = registry().lists.lock();
        if let Some(record) = record.as_deref().filter(|_| contexts::are_recorded()) {
            let sums = record.totals(true).as_root();
            lists.ended_tree.add_root(record.id, &sums);
        }
        lists.end_record(&None, &mut record);
        drop(lists);
        // SAFETY: made from a Box as the record was, which alone pointed to it and is freed.
        drop(unsafe { Box::from_raw(entry) });
    });
    if folded.is_none() {
        UNRECORDED.fetch_add(1, Relaxed);
        std::mem::forget(record);
    }
}
