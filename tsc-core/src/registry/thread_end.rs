//! The records of a thread that ends, and the calls that other destructors make after that.

use std::cell::Cell;
use std::ffi::c_void;
use std::mem;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::light::check::end_light;
use super::shard::Shard;
use super::{
    CALLS_AFTER_END, Lists, Registry, UNRECORDED, as_overhead, busy_with, in_cold_path, registry,
    room,
};
use crate::process;
use crate::record::thread::{self, Thread};
use crate::record::{Record, contexts, light};
use crate::sync::{sleep, thread_local};
use tsc_report::__private::Combine;

/// The most tables that are kept for other threads.
const SPARE: usize = 16;

/// The thread's shard: null, or from [`Arc::into_raw`].
///
/// Not a `RefCell`: a signal handler that ends the thread may run the destructor at any moment.
pub(super) struct ShardSlot(Cell<*const Shard>);

thread_local! {
    static SLOT: ShardSlot = const { ShardSlot(Cell::new(ptr::null())) };
}

/// Calls `f` with this thread's slot, in the cold path. Returns `None` if the thread is ending.
pub(super) fn with_shard_slot<T>(f: impl FnOnce(&ShardSlot) -> T) -> Option<T> {
    // After `end_without_drop`, the slot still exists.
    (!thread::this().has_ended()).then(|| SLOT.try_with(f).ok())?
}

/// Ends a thread whose slot is not dropped, because its first call came too late for that. Where the slot was dropped, there is none.
extern "C" fn end_without_drop(_: *mut c_void) {
    _ = SLOT.try_with(ShardSlot::end);
}

impl ShardSlot {
    /// This thread's shard in `registry`, if it has one. In the child of a fork, the slot may hold a shard of the parent's.
    pub(super) fn current(&self, registry: &Registry) -> Option<&Shard> {
        // SAFETY: null, or alive until the thread ends. Only the cold path comes here, and it does not nest.
        unsafe { self.0.get().as_ref() }.filter(|shard| ptr::eq(shard.home, registry))
    }

    pub(super) fn current_or_begin(&self, registry: &Registry, thread: &Thread) -> &Shard {
        if self.current(registry).is_none() {
            // The code stays mapped, as `hooks` makes sure before the first record.
            process::call_at_very_end(end_without_drop);
            // The old shard is the parent's, whose registry is never freed either.
            self.0.set(Arc::into_raw(Shard::begin(registry, thread)));
        }
        // SAFETY: the pointer is to the shard that this thread has had or has just begun, which lives until the thread ends.
        unsafe { &*self.0.get() }
    }

    /// Divides CPU time of this thread among its light functions.
    fn divide(&self, on_cpu: i64) {
        busy_with(|_| {
            let shard = self.current(registry())?;
            shard.own.lock().light.as_ref()?.divide(on_cpu);
            Some(())
        });
    }

    /// Ends the runtime's part of the thread. Does nothing the second time.
    fn end(&self) {
        let thread = thread::this();
        // If a signal handler calls `exit` meanwhile, the thread may hold a lock, be inside the allocator, or read the words of light probes.
        // Then everything stays as it is.
        if thread.is_busy() || thread.is_reporting() {
            return thread.end();
        }
        end_light(light::this(), thread, |on_cpu| self.divide(on_cpu));
        thread.end();
        let shard = self.0.replace(ptr::null());
        if shard.is_null() {
            return;
        }
        in_cold_path(|_| {
            let registry = registry();
            // SAFETY: made by `into_raw`, and taken from the slot just now. The registry has a reference of its own, and in the child of a
            // fork the parent's registry is never freed.
            let shard = unsafe { Arc::from_raw(shard) };
            if ptr::eq(shard.home, registry) {
                let mut lists = lock_outside_queue(|| registry.lists.try_lock());
                let reading = registry.reading.try_lock();
                lists.end_thread(shard, reading.is_none());
            }
        });
    }
}

impl Drop for ShardSlot {
    fn drop(&mut self) {
        self.end();
    }
}

/// Repeats an attempt to lock until it succeeds, and does not queue.
///
/// Where all CPUs are busy, each thread in a queue wakes up late, and ending threads would queue up faster than the queue moves on, until the
/// program can start no more. Threads that wake up by themselves nearly always find the locks free, which are held for microseconds. If
/// thousands end at once, they may not: they wake up less and less often, so that the thread that holds the lock gets a CPU.
fn lock_outside_queue<T>(mut attempt: impl FnMut() -> Option<T>) -> T {
    const SHORTEST: Duration = Duration::from_micros(20);
    const LONGEST: Duration = Duration::from_millis(128);
    let mut pause = SHORTEST;
    loop {
        if let Some(locked) = attempt() {
            return locked;
        }
        sleep(pause);
        pause = LONGEST.min(2 * pause);
    }
}

impl Lists {
    /// Adds a thread. Where it may go at its end, there is room for it from now on: then there may be no memory, and its records must stay.
    pub(super) fn begin_thread(&mut self, shard: Arc<Shard>) {
        self.live.push(shard);
        self.unmoved.reserve(self.live.len());
        self.lingering.reserve(self.live.len() + self.unmoved.len());
    }

    /// Moves the thread's figures to those of ended threads. If there is no memory for that, reports read them where they are.
    ///
    /// A reader has copied the figures of ended threads, and is about to read this shard. So if one `is_reading`, a thread that ends later
    /// moves them. Where a program reads without a pause, ending threads would wait for very long.
    fn end_thread(&mut self, shard: Arc<Shard>, is_reading: bool) {
        self.live.retain(|live| !Arc::ptr_eq(live, &shard));
        if is_reading {
            // What is running may stop while another thread moves the records.
            let list = if shard.is_running() {
                &mut self.lingering
            } else {
                &mut self.unmoved
            };
            return list.push(shard);
        }
        let mut ended = mem::take(&mut self.unmoved);
        ended.push(shard);
        ended.retain(|shard| self.end(shard));
        self.lingering.append(&mut ended);
        self.unmoved = ended;
    }

    /// Moves a thread's figures, if there is memory for that. Records of running sections remain, because the sections point to them. Returns
    /// whether there are any left.
    fn end(&mut self, shard: &Shard) -> bool {
        let own = &mut *shard.own.lock();
        if !room::is_left_for_end(own.table.records().count()) {
            return true;
        }
        let has_ended = |record: &Record| !record.is_running();
        own.add_to(shard, &mut self.ended, false, has_ended);
        own.tree = None;
        own.light = None;
        let is_running = own.table.drop_records(has_ended);
        if !is_running
            && self.spare.len() < SPARE
            && let Some(table) = own.table.take_for_reuse()
        {
            self.spare.push(table);
        }
        is_running
    }
}

/// The call, poll or section for which the record was found has stopped. Frees the record if its thread has ended.
pub(crate) fn release(record: NonNull<Record>) {
    // SAFETY: it lives until it is released.
    if unsafe { record.as_ref() }.is_orphan() {
        as_overhead(thread::this(), || fold_orphan(record));
    } else if thread::this().has_ended() {
        fold_lingering();
    }
}

/// A section, or a call by the system's clock, has stopped that was running when its thread ended.
fn fold_lingering() {
    // A section cannot stop inside the cold path. If it did, its record would stay.
    in_cold_path(|_| {
        let registry = registry();
        let _reading = registry.reading.lock();
        let mut lists = registry.lists.lock();
        let mut lingering = mem::take(&mut lists.lingering);
        lingering.retain(|shard| !shard.is_own() || lists.end(shard));
        lists.lingering = lingering;
    });
}

/// Adds the figures of a call whose record is for it alone, and frees that.
fn fold_orphan(orphan: NonNull<Record>) {
    // Freed in the cold path, because an annotated allocator would otherwise record the freeing in the same way, endlessly.
    let folded = in_cold_path(|_| {
        if !room::is_left_for_end(1) {
            return None;
        }
        // SAFETY: `find_here` has made it for a single call, which has ended.
        let record = unsafe { orphan.as_ref() };
        let (number, mut totals) = (record.id, record.totals(true));
        // Units, and polls that do not complete a call, are in records without one.
        CALLS_AFTER_END.fetch_add(totals.sums.calls(), Relaxed);
        let mut lists = registry().lists.lock();
        if contexts::are_recorded() {
            lists.ended.tree.add_root(number, &totals.as_root());
        }
        let (rows, _) = lists.ended.of(&None, number as usize + 1);
        // How many threads make such calls is not known: at least one.
        totals.sums.threads = u64::from(rows[number as usize].sums.threads == 0);
        rows[number as usize].merge(&totals);
        drop(lists);
        let entry = record.entry_pointer().cast_mut();
        // SAFETY: both were made from boxes, and only the record points to the entry.
        unsafe {
            drop(Box::from_raw(orphan.as_ptr()));
            drop(Box::from_raw(entry));
        }
        Some(())
    });
    if folded.flatten().is_none() {
        UNRECORDED.fetch_add(1, Relaxed);
    }
}
