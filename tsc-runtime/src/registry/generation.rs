//! Reading all figures, and handing them out so that what is recorded from then on starts from zero.
//!
//! A record is written by its thread alone. So who hands figures out cannot clear them: it advances the registry's generation and
//! sends every thread's next probe through the cold path, where the thread clears its own records. Until then, what was handed out
//! of a record is noted beside it and taken off wherever the record is read. So each call is handed out once, whenever it returns.

use std::sync::Arc;
use std::sync::atomic::{
    Ordering::{Relaxed, SeqCst},
    fence,
};

use super::shard::{Own, Shard};
use super::sheets::{CallsiteTotals, Figures};
use super::tree::Tree;
use super::{Lists, Registry, UNRECORDED, busy_with, in_cold_path, registry};
use crate::record::Record;
use crate::record::callsite::Callsite;
use crate::record::totals::Totals;

/// Every callsite that was called, with the totals of all threads. `None` from within the cold path.
pub(crate) fn figures() -> Option<Figures> {
    in_cold_path(|_| {
        let registry = registry();
        let _reading = registry.reading.lock();
        let mut tree = Tree::default();
        let (mut sheets, shards) = {
            let lists = registry.lists.lock();
            tree.add_tree(&lists.ended_tree);
            (lists.ended.clone(), lists.shards())
        };
        for shard in shards {
            let mut own = shard.own.lock();
            own.free_handed_out();
            own.add_to(shard.is_own(), sheets.of(&shard.name, own.records.len()));
            if let Some(own) = &own.tree {
                tree.add(own.rest());
            }
        }
        sheets.figures(&registry.callsites(), tree)
    })
}

/// The same, of all threads together.
pub(crate) fn totals() -> Option<CallsiteTotals> {
    Some(figures()?.callsites)
}

/// The same, and what was recorded until now is handed out with it: the next totals are of the calls that have returned since. With
/// them, how many calls were not recorded.
pub(crate) fn take_figures() -> Option<(Figures, u64)> {
    busy_with(|_| hand_out())
}

/// Hands all figures out to nobody. False from within the cold path, where nothing is done.
pub(super) fn forget() -> bool {
    // Freed inside: a handler that came just after would find the allocator at work.
    busy_with(|_| drop(hand_out())).is_some()
}

fn hand_out() -> (Figures, u64) {
    let registry = registry();
    let _reading = registry.reading.lock();
    let (mut sheets, mut tree, shards, generation) = {
        let mut lists = registry.lists.lock();
        let ended = std::mem::take(&mut lists.ended);
        let generation = registry.generation.fetch_add(1, Relaxed) + 1;
        lists.invalidate_threads();
        let tree = std::mem::take(&mut lists.ended_tree);
        (ended, tree, lists.shards(), generation)
    };
    for shard in shards {
        let mut own = shard.own.lock();
        let is_current = own.generation == generation;
        if let Some(own) = &mut own.tree {
            own.hand_out(&mut tree, is_current);
        }
        let totals = sheets.of(&shard.name, own.records.len());
        own.hand_out(shard.is_own(), generation, totals);
    }
    (
        sheets.figures(&registry.callsites(), tree),
        UNRECORDED.swap(0, Relaxed),
    )
}

impl Registry {
    /// For who holds the lists' lock, or compares it later with what it is then.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Relaxed)
    }

    /// By number. For who has read all records: a callsite that was added meanwhile may be in what was read, and is here then.
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
            unsafe { (*shard.thread).invalidate() };
        }
    }
}

impl Own {
    /// Adds what is recorded and not handed out.
    fn add_to(&self, is_own: bool, totals: &mut [Totals]) {
        for record in self.records.iter().flatten() {
            let totals = &mut totals[record.id as usize];
            match self.handed_out(record) {
                None => record.read(totals, is_own),
                Some(handed_out) => totals.merge(&record.totals(is_own).since(handed_out)),
            }
        }
    }

    /// Adds what is not handed out of earlier generations, and notes it as handed out.
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

    /// What of a record was handed out and is still in it.
    fn handed_out(&self, record: &Record) -> Option<&Totals> {
        if self.generation >= self.handed_out_until {
            return None;
        }
        self.handed_out.get(record.id as usize)
    }

    /// Whether the records are of this generation: takes what was handed out off them. False while somebody is about to hand them out,
    /// which the thread need not wait for: the records are used as they are, and what is added meanwhile is not handed out.
    ///
    /// For the shard's own thread. Neither allocates nor frees, for a signal handler may come here.
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

    /// Frees what [`catch_up`](Self::catch_up) needs no more.
    pub(super) fn free_handed_out(&mut self) {
        if self.generation >= self.handed_out_until {
            self.handed_out = Vec::new();
        }
    }
}
