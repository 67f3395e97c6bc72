//! Reading all figures, and taking them, so that later readings have only what has come since.
//!
//! Only its own thread writes a record. So whoever takes the figures does not clear them, but notes them beside the record, and they are
//! subtracted whenever it is read. So each call is taken once, whenever it returns. Extremes and the slowest calls cannot be subtracted.
//! These the thread forgets itself, in the cold path, through which its next probe is sent.

use super::shard::{Own, Shard};
use super::sheets::{Recorded, Sheets};
use super::{Lists, UNRECORDED, busy_with, in_cold_path, light, registry, room};
use crate::record::Record;
use crate::record::taken::rest;
use crate::record::totals::Totals;
use crate::sync::atomic::Ordering::{Relaxed, SeqCst};
use crate::sync::atomic::fence;
use crate::tick_clock::EPOCH;
use tsc_report::__private::Combine;

/// Every callsite that was called, with the totals of all threads. `None` from within the cold path.
pub(crate) fn figures() -> Option<Recorded> {
    in_cold_path(|_| read(false))
}

/// The same, and takes the figures: the next totals are those of calls that have returned since.
pub(crate) fn take_figures() -> Option<Recorded> {
    busy_with(|_| read(true))
}

/// Discards all figures. Returns false, without doing anything, in the cold path, and without memory.
pub(super) fn forget() -> bool {
    // Freed inside the cold path: otherwise a signal handler that comes just after it would find the allocator at work.
    let forgotten = busy_with(|_| room::is_left_for_report().then(|| drop(read(true))));
    light::take_left_behind();
    forgotten.flatten().is_some()
}

fn read(takes: bool) -> Recorded {
    let registry = registry();
    let _reading = registry.reading.lock();
    let (mut sheets, shards) = {
        let mut lists = registry.lists.lock();
        let sheets = if takes {
            std::mem::take(&mut lists.ended)
        } else {
            lists.ended.clone()
        };
        let Lists {
            live,
            lingering,
            unmoved,
            ..
        } = &*lists;
        let shards = live.iter().chain(lingering).chain(unmoved);
        (sheets, shards.cloned().collect::<Vec<_>>())
    };
    for shard in shards {
        let mut own = shard.own.lock();
        own.add_to(&shard, &mut sheets, takes, |_| true);
    }
    let unrecorded = if takes {
        registry.lists.lock().invalidate_threads();
        UNRECORDED.swap(0, Relaxed)
    } else {
        UNRECORDED.load(Relaxed)
    };
    Recorded {
        unrecorded,
        ..sheets.figures(takes)
    }
}

impl Lists {
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
        EPOCH.words.make_stale();
    }
}

impl Own {
    /// Adds the figures that were not taken, of the records that are wanted. With `takes`, they are taken from now on.
    pub(super) fn add_to(
        &mut self,
        shard: &Shard,
        sheets: &mut Sheets,
        takes: bool,
        is_wanted: impl Fn(&Record) -> bool,
    ) {
        if let Some(contexts) = &self.tree {
            let rest = rest(contexts.read(), &mut self.taken_tree, takes);
            sheets.tree.add(&rest);
        }
        if let Some(light) = &mut self.light {
            sheets.add_light(&shard.name, &light.rest(takes));
        }
        let (totals, _) = sheets.of(&shard.name, self.table.len());
        if takes {
            self.taken.resize_with(self.table.len(), Totals::default);
            self.is_to_forget = true;
        }
        for record in self.table.records().filter(|record| is_wanted(record)) {
            let number = record.id as usize;
            let mut rest = record.totals(shard.is_own());
            let all = takes.then(|| rest.clone());
            if let Some(taken) = self.taken.get(number) {
                rest.since(taken);
            }
            totals[number].merge(&rest);
            if let Some(all) = all {
                self.taken[number] = all;
            }
        }
    }

    /// Forgets what was taken and cannot be subtracted. For the shard's own thread. Neither allocates nor frees, because it may run in a
    /// signal handler.
    pub(super) fn forget_taken(&mut self) {
        if std::mem::take(&mut self.is_to_forget) {
            for record in self.table.records() {
                if let Some(taken) = self.taken.get(record.id as usize) {
                    record.forget(taken);
                }
            }
        }
    }
}
