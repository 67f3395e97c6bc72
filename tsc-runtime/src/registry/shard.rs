//! A thread's part of the registry: its records and its table.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use parking_lot::Mutex;

use super::sheets::{ThreadName, name_of_this_thread};
use super::tree::ThreadTree;
use super::{RECORDS, Registry, sample};
use crate::calibration::overhead;
use crate::interruption;
use crate::record::callsite::Callsite;
use crate::record::contexts;
use crate::record::sampling::Mode;
use crate::record::table::{Entry, Table};
use crate::record::thread::{self, Thread};
use crate::record::totals::Totals;
use crate::record::{OwnedRecord, Record};
use crate::registry::registration_costs::RegistrationCosts;
use crate::tsc::clock;

/// A live thread's part, or a lingering one.
pub(super) struct Shard {
    pub(super) home: *const Registry,
    pub(super) thread: *const Thread,
    pub(super) name: ThreadName,
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
    pub(super) records: Vec<Option<OwnedRecord>>,
    /// Behind the records, which point into it and so are dropped first.
    pub(super) table: Table,
    pub(super) registration_costs: RegistrationCosts,
    /// If call trees are recorded.
    pub(super) tree: Option<ThreadTree>,
    /// Which of the registry's generations the records are of.
    pub(super) generation: u64,
    /// By callsite number: what of the records was handed out when a later generation began, and is still in them until the thread has
    /// caught up with that.
    pub(super) handed_out: Vec<Totals>,
    /// That generation.
    pub(super) handed_out_until: u64,
}

impl Shard {
    /// Whether it is the calling thread's.
    pub(super) fn is_own(&self) -> bool {
        ptr::eq(self.thread, thread::this())
    }

    /// A new thread's, which the registry knows from now on.
    pub(super) fn begin(registry: &Registry, thread: &Thread) -> Arc<Self> {
        // Where the counter may not be read, the detector cannot note when it was armed, and the system's clock may read the counter itself.
        if clock::availability().is_ok() {
            thread.detector.attach();
            if !thread.sampler.is_seeded() {
                thread.sampler.seed(sample::seed());
            }
            thread.sampler.set_counted_cost(overhead::counted());
            if interruption::unavailable().is_none() {
                thread.on_cpu.attach();
            }
        }
        let name = name_of_this_thread();
        let tree = contexts::are_recorded().then(ThreadTree::new);
        if let Some(tree) = &tree {
            thread.record_tree(&tree.contexts);
        }
        let mut lists = registry.lists.lock();
        let shard = Arc::new(Self {
            home: registry,
            thread,
            name,
            own: Mutex::new(Own {
                tree,
                generation: registry.generation(),
                ..Own::default()
            }),
        });
        lists.live.push(Arc::clone(&shard));
        shard
    }

    /// The thread's record of a callsite, made now if there is none, and the generation it is of. For the shard's own thread, which
    /// uses its table from now on.
    pub(super) fn record(
        &self,
        registry: &Registry,
        thread: &Thread,
        callsite: &Callsite,
        number: usize,
    ) -> (*const Record, u64) {
        let mut own = self.own.lock();
        own.catch_up(registry.generation());
        own.free_handed_out();
        own.registration_costs.reserve();
        let Own { records, table, .. } = &mut *own;
        if records.len() <= number {
            records.resize_with(number + 1, || None);
        }
        let entry = table.entry(number);
        let record = records[number].get_or_insert_with(|| {
            // SAFETY: the table is dropped after the records.
            unsafe { make_record(callsite, number, entry) }
        });
        let record = record.as_ptr();
        entry.set_record(record);
        thread.set_table(table);
        (record, own.generation)
    }
}

/// # Safety
///
/// `entry` outlives the record.
pub(super) unsafe fn make_record(
    callsite: &Callsite,
    number: usize,
    entry: *const Entry,
) -> OwnedRecord {
    let order = RECORDS.fetch_add(1, Relaxed) + 1;
    // SAFETY: the caller's.
    let record = OwnedRecord::new(unsafe { Record::new(number as u32, order, entry) });
    let overhead = overhead::of(callsite.fence());
    record.visible.set(overhead.visible.round() as u64);
    record.cost.set(overhead.total.round() as u64);
    record.nesting.set(overhead.nesting.round() as u64);
    for (cost, sampled) in record.sampling.cost.iter().zip(overhead.sampled) {
        cost.set(sampled.round() as u64);
    }
    record.set_mode(if clock::is_os_clock() {
        Mode::EveryCall
    } else {
        sample::mode(callsite.meta().sample)
    });
    record
}
