//! Reading all figures, and handing them out so that what is recorded from then on starts from zero.
//!
//! Only its own thread writes a record. So a report that takes the figures cannot clear them. Instead it advances the registry's generation
//! and sends every thread's next probe through the cold path, where the thread clears its own records. Until then, the figures that were
//! taken are noted beside the record and subtracted whenever it is read. So each call is taken once, whenever it returns.

use std::sync::Arc;

use super::shard::{Own, Shard};
use super::sheets::Figures;
use super::tree::Tree;
use super::{Lists, Registry, UNRECORDED, busy_with, in_cold_path, registry, room};
use crate::record::Record;
use crate::record::callsite::Callsite;
use crate::record::totals::Totals;
use crate::sync::atomic::{
    Ordering::{Relaxed, SeqCst},
    fence,
};

/// Every callsite that was called, with the totals of all threads. `None` from within the cold path.
pub(crate) fn figures() -> Option<Figures> {
    in_cold_path(|_| {
        let registry = registry();
        let _reading = registry.reading.lock();
        let mut tree = Tree::default();
        let (mut sheets, mut light, shards) = {
            let lists = registry.lists.lock();
            tree.add_tree(&lists.ended_tree);
            (
                lists.ended.clone(),
                lists.ended_light.clone(),
                lists.shards(),
            )
        };
        for shard in shards {
            let mut own = shard.own.lock();
            own.free_handed_out();
            own.add_to(shard.is_own(), sheets.of(&shard.name, own.records.len()));
            if let Some(own) = &own.tree {
                tree.add(own.rest());
            }
            if let Some(own) = &own.light {
                light.of(&shard.name).add(&own.rest());
            }
        }
        sheets.figures(&registry.callsites(), tree, light)
    })
}

/// The same, and takes the figures: the next totals are those of calls that have returned since. Also returns the number of calls that were
/// not recorded.
pub(crate) fn take_figures() -> Option<(Figures, u64)> {
    busy_with(|_| hand_out())
}

/// Discards all figures. Returns false, without doing anything, in the cold path, and without memory.
pub(super) fn forget() -> bool {
    // Freed inside the cold path: otherwise a signal handler that comes just after it would find the allocator at work.
    let forgotten = busy_with(|_| room::is_left_for_report().then(|| drop(hand_out())));
    forgotten.flatten().is_some()
}

fn hand_out() -> (Figures, u64) {
    let registry = registry();
    let _reading = registry.reading.lock();
    let (mut sheets, mut tree, mut light, shards, generation) = {
        let mut lists = registry.lists.lock();
        let ended = std::mem::take(&mut lists.ended);
        let generation = registry.generation.fetch_add(1, Relaxed) + 1;
        lists.invalidate_threads();
        let tree = std::mem::take(&mut lists.ended_tree);
        let light = std::mem::take(&mut lists.ended_light);
        (ended, tree, light, lists.shards(), generation)
    };
    for shard in shards {
        let mut own = shard.own.lock();
        let is_current = own.generation == generation;
        if let Some(own) = &mut own.tree {
            own.hand_out(&mut tree, is_current);
        }
        if let Some(own) = &mut own.light {
            light.of(&shard.name).add(&own.hand_out());
        }
        let totals = sheets.of(&shard.name, own.records.len());
        own.hand_out(shard.is_own(), generation, totals);
    }
    (
        sheets.figures(&registry.callsites(), tree, light),
        UNRECORDED.swap(0, Relaxed),
    )
}

impl Registry {
    /// The generation, for callers that hold the lists' lock or compare it again later.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Relaxed)
    }

    /// The callsites by number. To be called after reading all records, so that it includes the callsites that were added meanwhile.
    fn callsites(&self) -> Vec<Option<&'static Callsite>> {
        self.lists.lock().callsites.clone()
    }
}

impl Lists {
    fn shards(&self) -> Vec<Arc<Shard>> {
        self.live.iter().chain(&self.lingering).cloned().collect()
    }

    /// Sends every thread's next probe through the cold path.
    pub(super) fn invalidate_threads(&self) {
        fence(SeqCst);
        for shard in &self.live {
            // SAFETY: see `Shard`: this is under the registry's lock.
            unsafe {
                (*shard.thread).invalidate();
                (*shard.light_thread).invalidate();
            }
        }
    }
}

impl Own {
    /// Adds the figures that are recorded and not yet taken.
    fn add_to(&self, is_own: bool, totals: &mut [Totals]) {
        for record in self.records.iter().flatten() {
            let totals = &mut totals[record.id as usize];
            match self.handed_out(record) {
                None => record.read(totals, is_own),
                Some(handed_out) => totals.merge(&record.totals(is_own).since(handed_out)),
            }
        }
    }

    /// Adds the figures of earlier generations that are not yet taken, and notes them as taken.
    fn hand_out(&mut self, is_own: bool, generation: u64, totals: &mut [Totals]) {
        if self.generation == generation {
            return;
        }
        let mut handed_out = Vec::new();
        handed_out.resize_with(self.records.len(), Totals::default);
        for record in self.records.iter().flatten() {
            let now = record.totals(is_own);
            let totals = &mut totals[record.id as usize];
            match self.handed_out(record) {
                None => totals.merge(&now),
                Some(earlier) => totals.merge(&now.since(earlier)),
            }
            handed_out[record.id as usize] = now;
        }
        self.handed_out = handed_out;
        self.handed_out_until = generation;
    }

    /// The figures that were taken from a record and are still in it.
    fn handed_out(&self, record: &Record) -> Option<&Totals> {
        if self.generation >= self.handed_out_until {
            return None;
        }
        self.handed_out.get(record.id as usize)
    }

    /// Returns whether the records are of this generation, and to that end subtracts what was taken from them. Returns false while another
    /// thread is about to take the figures. The thread need not wait for that: it uses the records as they are, and what it adds meanwhile
    /// is not taken.
    ///
    /// For the shard's own thread. Neither allocates nor frees, because it may run in a signal handler.
    pub(super) fn catch_up(&mut self, generation: u64) -> bool {
        if self.generation == generation {
            return true;
        }
        if self.handed_out_until != generation {
            return false;
        }
        if let Some(tree) = &mut self.tree {
            tree.catch_up();
        }
        for record in self.records.iter().flatten() {
            match self.handed_out(record) {
                None => record.take_off(&Totals::default()),
                Some(handed_out) => record.take_off(handed_out),
            }
        }
        self.generation = generation;
        true
    }

    /// Frees what [`catch_up`](Self::catch_up) no longer needs.
    pub(super) fn free_handed_out(&mut self) {
        if self.generation >= self.handed_out_until {
            self.handed_out = Vec::new();
        }
    }
}
