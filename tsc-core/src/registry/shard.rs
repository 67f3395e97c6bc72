//! A thread's part of the registry: its records and its table.

use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::compiler_fence;

use super::sheets::{ThreadName, name_of_rows};
use super::{RECORDS, REGISTRY, Registry, forget_parents, has_light_probes};
use crate::calibration::overhead;
use crate::record::Record;
use crate::record::callsite::Callsite;
use crate::record::contexts::{self, Contexts};
use crate::record::counters::ContextSums;
use crate::record::light::{self, LightRecord, LightThread, PathTotals};
use crate::record::slowest::ThreadFacts;
use crate::record::table::{Entry, Table};
use crate::record::thread::{self, Thread};
use crate::record::totals::Totals;
use crate::sync::Mutex;
use crate::tsc::clock;
use crate::{interruption, process};

/// The part of a running thread, or of one that has ended while a section of it was running.
pub(super) struct Shard {
    pub(super) home: *const Registry,
    pub(super) thread: *const Thread,
    pub(super) light_thread: *const LightThread,
    pub(super) name: ThreadName,
    /// For the slowest calls.
    facts: Arc<ThreadFacts>,
    pub(super) own: Mutex<Own>,
}

// SAFETY: `home` is only compared. `thread` is used under the registry's lock while the shard is in the list of running threads, which it
// leaves before the thread ends, and any thread may call `Thread::invalidate`. The same holds for `light_thread`. `Own` points to what it
// owns.
unsafe impl Send for Shard {}
// SAFETY: the same reasons as for `Send` hold for shared references.
unsafe impl Sync for Shard {}

pub(super) struct Own {
    pub(super) table: Table,
    /// `Some` if call trees are recorded. In a box, because the thread points to it.
    pub(super) tree: Option<Box<Contexts>>,
    pub(super) taken_tree: Vec<PathTotals<ContextSums>>,
    /// `Some` after the thread's first call of a light function.
    pub(super) light: Option<LightRecord>,
    /// By callsite number: the figures that were taken, which are still in the records. Empty if none were.
    pub(super) taken: Vec<Totals>,
    /// Whether figures were taken of which the thread is to forget what cannot be subtracted.
    pub(super) is_to_forget: bool,
}

impl Shard {
    /// Whether this is the calling thread's shard.
    pub(super) fn is_own(&self) -> bool {
        ptr::eq(self.thread, thread::this())
    }

    /// Called after the thread has begun to use what is in the shard. If a signal handler has forked meanwhile, this may be the child, where the
    /// shard is the parent's, and what the thread had already forgotten is in use again. A fork that comes later makes the thread forget it.
    pub(super) fn forget_if_parents(&self, thread: &Thread) {
        compiler_fence(SeqCst);
        let current = REGISTRY.get_if_made();
        if !current.is_some_and(|registry| ptr::eq(self.home, registry)) {
            forget_parents(thread);
        }
    }

    /// Whether calls or sections are running.
    pub(super) fn is_running(&self) -> bool {
        let own = self.own.lock();
        own.table.records().any(Record::is_running)
    }

    /// Makes a shard for a new thread and adds it to the registry.
    pub(super) fn begin(registry: &Registry, thread: &Thread) -> Arc<Self> {
        // If the counter may not be read, the detector cannot note when it was armed, and the system's clock itself may read the counter.
        if clock::availability().is_ok() {
            thread.detector.attach();
            if interruption::unavailable().is_none() {
                thread.on_cpu.attach();
            }
        }
        let facts = ThreadFacts {
            id: process::thread_id(),
            name: std::thread::current().name().map(Arc::from),
        };
        // Without memory, the thread's calls are not in the tree.
        let is_in_tree = contexts::are_recorded() && !thread.is_mixed();
        let tree = is_in_tree.then(Contexts::new).flatten();
        let tree = tree.map(Box::new);
        if let Some(contexts) = &tree {
            thread.record_tree(contexts);
        }
        let mut lists = registry.lists.lock();
        let shard = Arc::new(Self {
            home: registry,
            thread,
            light_thread: light::this(),
            name: name_of_rows(&facts),
            facts: Arc::new(facts),
            own: Mutex::new(Own {
                table: lists.spare.pop().unwrap_or_else(Table::new),
                tree,
                taken_tree: Vec::new(),
                light: None,
                taken: Vec::new(),
                is_to_forget: false,
            }),
        });
        lists.begin_thread(Arc::clone(&shard));
        shard
    }

    /// The thread's record of a callsite, which is made now if there is none. For the shard's own thread, which uses its table from now on.
    /// `None` if there is no memory.
    pub(super) fn record(
        &self,
        thread: &Thread,
        callsite: &'static Callsite,
        number: usize,
    ) -> Option<NonNull<Record>> {
        let mut own = self.own.lock();
        own.forget_taken();
        let table = &mut own.table;
        let record = table.record(number, |entry, arena| {
            // SAFETY: the table drops its records before its entries and its arena.
            let mut record = unsafe { make_record(callsite, number, entry) };
            // SAFETY: as above.
            unsafe { record.keep_slowest(&self.facts, arena) };
            record
        })?;
        if has_light_probes() && thread.begin_to_mix() {
            table.records().for_each(set_costs);
        }
        // Under the lock, so that whoever takes the figures later finds the table in use.
        thread.set_table(table);
        Some(record)
    }
}

/// # Safety
///
/// `entry` outlives the record.
pub(super) unsafe fn make_record(
    callsite: &'static Callsite,
    number: usize,
    entry: *const Entry,
) -> Record {
    let order = RECORDS.fetch_add(1, Relaxed) + 1;
    #[allow(unused_mut)] // without `pmu`
    // SAFETY: guaranteed by the caller.
    let mut record = unsafe { Record::new(number as u32, order, entry) };
    // Here, because a probe must not allocate: it may be an allocator's.
    #[cfg(all(feature = "pmu", target_os = "linux", not(miri)))]
    record
        .events
        .replace(callsite.events.get_or_init(Box::default));
    record.fence.set(callsite.fence());
    set_costs(&record);
    record
}

/// Sets what a probe of the record costs, as far as that is known now.
fn set_costs(record: &Record) {
    if let Some(fence) = record.fence.get() {
        let [visible, total, nesting] = overhead::means(fence).map(|ticks| ticks.round() as u64);
        record.visible.set(visible);
        record.cost.set(total);
        record.nesting.set(nesting);
    }
}
