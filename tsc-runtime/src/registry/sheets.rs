//! Totals by callsite; also by the threads' names if the user asks for that.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use once_cell::race::OnceBool;

use super::light_totals::LightTotals;
use super::tree::Tree;
use crate::record::callsite::{self, Callsite};
use crate::record::light::Row;
use crate::record::slowest::{self, ThreadFacts};
use crate::record::totals::Totals;
use crate::{environment, process};

/// The name of some threads; `None` for threads without a name, and for all threads if no rows for threads are asked for.
pub(crate) type ThreadName = Option<Arc<str>>;

/// Callsites and their totals.
pub(crate) type CallsiteTotals = Vec<(&'static Callsite, Totals)>;

/// Every callsite that was called, with the totals of all threads and, if that is asked for, of the threads of each name.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) callsites: CallsiteTotals,
    pub(crate) by_thread: Vec<(ThreadName, CallsiteTotals)>,
    /// The call tree; without nodes if it is not recorded.
    pub(crate) tree: Tree,
    /// What light probes have counted, and the time by ticks of the clock.
    pub(crate) light: LightTotals,
    pub(crate) light_by_thread: Vec<(ThreadName, LightTotals)>,
}

impl Figures {
    /// The number of calls that have started.
    pub(crate) fn started(&self) -> u64 {
        let timed = self.callsites.iter();
        let timed: u64 = timed
            .map(|(_, totals)| totals.sums.calls() + totals.sums.running)
            .sum();
        let light = self.callsites.iter().filter_map(|(callsite, _)| {
            let row = self.light.get(callsite.number()?)?;
            Some(row.counts.get(Row::CALLS))
        });
        timed + light.sum::<u64>()
    }
}

/// The figures of some threads, for each name of threads.
#[derive(Clone, Debug, Default)]
pub(super) struct Sheets {
    by_name: BTreeMap<ThreadName, Sheet>,
    pub(super) tree: Tree,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Sheet {
    /// By callsite number.
    pub(super) totals: Vec<Totals>,
    pub(super) light: LightTotals,
}

impl Sheet {
    fn make_room(&mut self, callsites: usize) {
        if self.totals.len() < callsites {
            self.totals.resize_with(callsites, Totals::default);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.make_room(other.totals.len());
        for (own, other) in self.totals.iter_mut().zip(&other.totals) {
            own.merge(other);
        }
        self.light.merge(&other.light);
    }
}

impl Sheets {
    /// The figures of the threads with this name, with room for the totals of at least `callsites` callsites.
    pub(super) fn of(&mut self, name: &ThreadName, callsites: usize) -> &mut Sheet {
        let sheet = self.by_name.entry(name.clone()).or_default();
        sheet.make_room(callsites);
        sheet
    }

    pub(super) fn figures(self, callsites: &[Option<&'static Callsite>]) -> Figures {
        let mut all = Sheet::default();
        let mut figures = Figures::default();
        for (name, sheet) in self.by_name {
            if !are_apart() {
                // There is only one.
                all = sheet;
                break;
            }
            all.merge(&sheet);
            let totals = called(callsites, sheet.totals, &HashSet::new());
            figures.by_thread.push((name.clone(), totals));
            figures.light_by_thread.push((name, sheet.light));
        }
        all.make_room(callsites.len());
        figures.callsites = called(callsites, all.totals, &self.tree.callsites());
        figures
            .callsites
            .extend(called_light(callsites, &all.light));
        figures.tree = self.tree;
        figures.light = all.light;
        figures
    }
}

/// Includes callsites that are only `in_tree`, because a thread's tree is not read at the same moment as its records.
fn called(
    callsites: &[Option<&'static Callsite>],
    totals: Vec<Totals>,
    in_tree: &HashSet<u32>,
) -> CallsiteTotals {
    let called = |Totals { sums, .. }: &Totals| {
        sums.calls() + sums.running + sums.polls + sums.cancelled != 0
    };
    callsites
        .iter()
        .zip(totals)
        .zip(0..)
        .filter(|((_, totals), number)| called(totals) || in_tree.contains(number))
        .filter_map(|((callsite, totals), _)| Some(((*callsite)?, totals)))
        .collect()
}

/// The light callsites that were called, in the order of their numbers. They have no other totals.
///
/// In the child of a fork, a thread has rows of callsites that have their numbers from the parent. So they need not be among the child's
/// `callsites`, but they are in the list of all that were ever registered, which may be long.
fn called_light(callsites: &[Option<&'static Callsite>], light: &LightTotals) -> CallsiteTotals {
    let known = |number: u32| callsites.get(number as usize).copied().flatten();
    let mut called: Vec<&'static Callsite> =
        if light.numbers().all(|number| known(number).is_some()) {
            light.numbers().filter_map(known).collect()
        } else {
            let has_figures = |number| light.get(number).is_some();
            callsite::registered()
                .filter(|callsite| callsite.number().is_some_and(has_figures))
                .collect()
        };
    called.retain(|callsite| callsite.is_light());
    called.sort_by_key(|callsite| callsite.number());
    let without_totals = |callsite| (callsite, Totals::default());
    called.into_iter().map(without_totals).collect()
}

/// Whether totals are kept apart by the threads' names.
fn are_apart() -> bool {
    static APART: OnceBool = OnceBool::new();
    APART.get_or_init(|| are_wanted_apart().unwrap_or(false))
}

/// What `TSC_THREADS` says.
pub(super) fn are_wanted_apart() -> Option<bool> {
    environment::THREADS.parse(environment::switch)
}

/// The name of the calling thread.
pub(super) fn name_of_this_thread() -> ThreadName {
    are_apart()
        .then(|| std::thread::current().name().map(Arc::from))
        .flatten()
}

/// By what the calling thread is known outside. Nothing is asked if no calls are kept.
pub(super) fn facts_of_this_thread() -> ThreadFacts {
    if slowest::wanted() == 0 {
        return ThreadFacts::default();
    }
    ThreadFacts {
        id: process::thread_id(),
        name: std::thread::current().name().map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::callsite::meta;
    use crate::record::contexts::ContextTotals;
    use crate::tsc::Lfence;
    use tsc_report::__private::ContextSums;

    #[test]
    fn context_has_its_row_though_the_call_came_after_the_records_were_read() {
        static CALLSITE: Callsite =
            Callsite::new::<Lfence>(meta(&(), module_path!(), line!()).named("late"));
        let rows = |calls| {
            let late = ContextTotals {
                callsite: Some(1),
                parent: 0,
                sums: ContextSums {
                    calls,
                    ..ContextSums::default()
                },
            };
            let mut sheets = Sheets::default();
            sheets.tree.add([late].into_iter());
            let figures = sheets.figures(&[None, Some(&CALLSITE)]);
            figures.callsites.len()
        };
        assert_eq!((rows(1), rows(0)), (1, 0));
    }
}
