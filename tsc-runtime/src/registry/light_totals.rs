//! The figures of light probes, added up over threads.

use std::collections::BTreeMap;
use std::collections::hash_map::{Entry, HashMap};

use super::sheets::ThreadName;
use crate::record::light::{Counts, LightSums, PathSums, PathTotals, ROOT};

/// Time by ticks of the clock. Inclusive time has no ticks of its own, and no squares.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ticked {
    /// In which the function was innermost.
    pub(crate) own: PathSums,
    /// In which the function was running.
    pub(crate) inclusive: PathSums,
}

/// The figures of a callsite.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LightRow {
    pub(crate) counts: Counts,
    /// The threads that called it.
    pub(crate) threads: u64,
    pub(crate) ticked: Ticked,
}

impl LightRow {
    pub(crate) fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.ticked.inclusive.is_empty()
    }
}

/// A callsite, called through a chain of others.
#[derive(Clone, Debug)]
pub(crate) struct LightContext {
    /// The callsite's number. `None` for everything for which a thread had no room.
    pub(crate) callsite: Option<u32>,
    /// The index of the parent, which precedes it.
    pub(crate) parent: Option<usize>,
    pub(crate) ticked: Ticked,
}

/// The figures of some threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct LightTotals {
    /// By callsite number.
    rows: Vec<LightRow>,
    contexts: Vec<LightContext>,
    /// The index of each context, by its parent and its callsite.
    known: HashMap<(Option<usize>, Option<u32>), usize>,
    /// Time outside of all annotated functions.
    pub(crate) outside: PathSums,
}

impl LightTotals {
    /// The row of a callsite number.
    pub(super) fn row(&mut self, number: u32) -> &mut LightRow {
        let index = number as usize;
        if self.rows.len() <= index {
            self.rows.resize_with(index + 1, LightRow::default);
        }
        &mut self.rows[index]
    }

    /// The figures of a callsite number, if it has any.
    pub(crate) fn get(&self, number: u32) -> Option<&LightRow> {
        let row = self.rows.get(number as usize)?;
        (!row.is_empty()).then_some(row)
    }

    pub(crate) fn contexts(&self) -> &[LightContext] {
        &self.contexts
    }

    /// The CPU time of all functions, and what is outside of them.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.iter().all(LightRow::is_empty)
    }

    /// Adds a thread's figures.
    pub(super) fn add(&mut self, sums: &LightSums) {
        for (number, counts) in (0..).zip(&sums.counts) {
            if !counts.is_empty() {
                let row = self.row(number);
                row.counts.add(counts);
                row.threads += 1;
            }
        }
        let mut places = vec![None; sums.paths.len()];
        for (index, path) in sums.paths.iter().enumerate() {
            if path.sums.is_empty() {
                continue;
            }
            if index == ROOT.index() {
                self.outside.add(&path.sums);
                continue;
            }
            let own = self.context_of(index, &sums.paths, &mut places);
            self.at(own, |ticked| ticked.own.add(&path.sums));
            let mut chain = path.chain;
            while chain != ROOT.index() {
                let around = self.context_of(chain, &sums.paths, &mut places);
                self.at(around, |ticked| ticked.inclusive.add(&path.sums));
                chain = sums.paths[chain].outer;
            }
        }
    }

    /// Changes the figures of a context and of its callsite's row.
    fn at(&mut self, context: usize, change: impl Fn(&mut Ticked)) {
        change(&mut self.contexts[context].ticked);
        if let Some(number) = self.contexts[context].callsite {
            change(&mut self.row(number).ticked);
        }
    }

    /// The context of a place.
    fn context_of(
        &mut self,
        index: usize,
        paths: &[PathTotals],
        places: &mut [Option<usize>],
    ) -> usize {
        // From the place to the first caller that is known, and back.
        let extension = |index: usize| match paths[index].chain {
            chain if chain == index => index,
            _ => paths[index].outer,
        };
        let mut callers = vec![extension(index)];
        let mut parent = loop {
            let place = callers[callers.len() - 1];
            if let Some(known) = places[place] {
                callers.pop();
                break Some(known);
            }
            match paths[place].caller {
                root if root == ROOT.index() => break None,
                caller => callers.push(extension(caller)),
            }
        };
        while let Some(place) = callers.pop() {
            parent = Some(self.context(parent, paths[place].callsite));
            places[place] = parent;
        }
        parent.unwrap_or_default()
    }

    fn context(&mut self, parent: Option<usize>, callsite: Option<u32>) -> usize {
        match self.known.entry((parent, callsite)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.contexts.push(LightContext {
                    callsite,
                    parent,
                    ticked: Ticked::default(),
                });
                *new.insert(self.contexts.len() - 1)
            }
        }
    }

    /// Adds the figures of other threads.
    pub(super) fn merge(&mut self, other: &Self) {
        for (number, row) in (0..).zip(&other.rows) {
            if !row.is_empty() {
                let own = self.row(number);
                own.counts.add(&row.counts);
                own.threads += row.threads;
                own.ticked.add(&row.ticked);
            }
        }
        let mut places = Vec::with_capacity(other.contexts.len());
        for context in &other.contexts {
            let parent = context.parent.map(|parent| places[parent]);
            let place = self.context(parent, context.callsite);
            self.contexts[place].ticked.add(&context.ticked);
            places.push(place);
        }
        self.outside.add(&other.outside);
    }
}

impl Ticked {
    fn add(&mut self, other: &Self) {
        self.own.add(&other.own);
        self.inclusive.add(&other.inclusive);
    }
}

/// The figures of the threads of each name.
#[derive(Clone, Debug, Default)]
pub(crate) struct LightSheets(BTreeMap<ThreadName, LightTotals>);

impl LightSheets {
    pub(super) fn of(&mut self, name: &ThreadName) -> &mut LightTotals {
        self.0.entry(name.clone()).or_default()
    }

    /// The figures of all threads.
    pub(crate) fn all(&self) -> LightTotals {
        let mut all = LightTotals::default();
        for totals in self.0.values() {
            all.merge(totals);
        }
        all
    }

    pub(crate) fn by_thread(&self) -> impl Iterator<Item = (&ThreadName, &LightTotals)> {
        self.0.iter()
    }
}
