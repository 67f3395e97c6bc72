//! Totals by callsite; also by the threads' names if the user asks for that.

use std::sync::Arc;

use once_cell::race::OnceBool;

use super::tree::Tree;
use crate::environment;
use crate::record::callsite::{self, Callsite};
use crate::record::light::PathSums;
use crate::record::slowest::ThreadFacts;
use crate::record::totals::Totals;
use tsc_report::__private::Combine;
use tsc_report::CallsiteSums;

/// The name of some threads; `None` for threads without a name, and for all threads if no rows for threads are asked for.
pub(crate) type ThreadName = Option<Arc<str>>;

/// Callsites and their totals.
pub(crate) type CallsiteTotals = Vec<(&'static Callsite, Totals)>;

/// Every callsite that was called, with the totals of all threads and, if that is asked for, of the threads of each name.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) callsites: CallsiteTotals,
    pub(crate) by_thread: Vec<(ThreadName, CallsiteTotals)>,
    /// The call tree; without nodes if it is not recorded.
    pub(crate) tree: Tree,
    /// The time by ticks of the clock.
    pub(crate) ticked: Ticked,
    /// The number of calls that are in no record.
    pub(crate) unrecorded: u64,
    /// Whether no later figures have what these have.
    pub(crate) are_taken: bool,
}

impl Recorded {
    /// Where the callsite with this number is. They are in the order of their numbers.
    pub(crate) fn index_of(&self, number: u32) -> Option<u64> {
        let number_of = |&(callsite, _): &(&Callsite, Totals)| callsite.number();
        let callsites = &self.callsites;
        let found = callsites.binary_search_by_key(&Some(number), number_of);
        found.ok().map(|index| index as u64)
    }
}

/// Time by ticks of the clock, of all threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ticked {
    /// By chain of callers. Calls are not known.
    pub(crate) tree: Tree,
    /// Outside of all annotated functions.
    pub(crate) outside: PathSums,
}

/// The figures of some threads, for each name of threads.
#[derive(Clone, Debug, Default)]
pub(super) struct Sheets {
    /// In the order of the names. The totals are by callsite number.
    by_name: Vec<(ThreadName, Vec<Totals>)>,
    pub(super) tree: Tree,
    pub(super) ticked: Ticked,
}

impl Sheets {
    /// The totals of the threads with this name, of at `least` so many callsites, and the time by ticks.
    pub(super) fn of(&mut self, name: &ThreadName, least: usize) -> (&mut [Totals], &mut Ticked) {
        let at = self.by_name.partition_point(|(known, _)| known < name);
        if self.by_name.get(at).is_none_or(|(known, _)| known != name) {
            self.by_name.insert(at, (name.clone(), Vec::new()));
        }
        let totals = &mut self.by_name[at].1;
        make_room(totals, least);
        (totals, &mut self.ticked)
    }

    /// `are_taken` is whether no later figures have what these have.
    pub(super) fn figures(self, are_taken: bool) -> Recorded {
        let mut all = Vec::new();
        let mut by_thread = Vec::new();
        for (name, totals) in self.by_name {
            if !are_apart() {
                // There is only one.
                all = totals;
                break;
            }
            make_room(&mut all, totals.len());
            for (all, part) in all.iter_mut().zip(&totals) {
                all.merge(part);
            }
            by_thread.push((name, called(totals, &[], are_taken)));
        }
        Recorded {
            callsites: called(all, &self.tree.has_nodes(), are_taken),
            by_thread,
            tree: self.tree,
            ticked: self.ticked,
            are_taken,
            ..Recorded::default()
        }
    }
}

fn make_room(totals: &mut Vec<Totals>, callsites: usize) {
    totals.resize_with(totals.len().max(callsites), Totals::default);
}

/// In the order of the callsites' numbers. Includes callsites that are only `in_tree`, because a thread's tree is not read at the same moment
/// as its records. In the child of a fork, a thread has rows of callsites that have their numbers from the parent.
fn called(mut totals: Vec<Totals>, in_tree: &[bool], are_taken: bool) -> CallsiteTotals {
    let nothing = CallsiteSums::default();
    // A timed function in which only ticks have come is in a later report, unless no later one has them.
    let is_called = |callsite: &Callsite, sums: &CallsiteSums| {
        let calls = sums.calls() + sums.running + sums.polls + sums.cancelled;
        callsite.is_light() || are_taken || calls != 0
    };
    let callsites: Vec<_> = callsite::registered().collect();
    let rows = callsites.into_iter().rev().filter_map(|callsite| {
        let number = callsite.number()?;
        let totals = totals.get_mut(number as usize).map(std::mem::take);
        let totals = totals.unwrap_or_default();
        let is_row = in_tree.get(number as usize) == Some(&true)
            || totals.sums != nothing && is_called(callsite, &totals.sums);
        is_row.then_some((callsite, totals))
    });
    rows.collect()
}

/// Whether totals are kept apart by the threads' names.
fn are_apart() -> bool {
    static APART: OnceBool = OnceBool::new();
    APART.get_or_init(|| environment::THREADS.parse(environment::switch) == Some(true))
}

/// The name by which the thread has rows.
pub(super) fn name_of_rows(facts: &ThreadFacts) -> ThreadName {
    facts.name.clone().filter(|_| are_apart())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::callsite::meta;
    use crate::record::counters::ContextSums;
    use crate::registry::number_of;
    use crate::tsc::Lfence;

    #[test]
    fn context_has_its_row_though_the_call_came_after_the_records_were_read() {
        static CALLSITE: Callsite =
            Callsite::new::<Lfence>(meta(&(), module_path!(), line!()).named("late"));
        let number = number_of(&CALLSITE).unwrap();
        let rows = |calls| {
            let sums = ContextSums {
                calls,
                ..ContextSums::default()
            };
            let mut sheets = Sheets::default();
            if calls != 0 {
                sheets.tree.add_root(number as u32, &sums);
            }
            sheets.figures(false).callsites.len()
        };
        assert_eq!((rows(1), rows(0)), (1, 0));
    }

    #[test]
    fn ticks_without_a_call_are_in_a_report_that_takes_them() {
        static CALLSITE: Callsite =
            Callsite::new::<Lfence>(meta(&(), module_path!(), line!()).named("ticked"));
        let number = number_of(&CALLSITE).unwrap();
        let rows = |are_taken| {
            let mut sheets = Sheets::default();
            sheets.of(&None, number + 1).0[number].sums.ticked = 5;
            sheets.figures(are_taken).callsites.len()
        };
        assert_eq!((rows(false), rows(true)), (0, 1));
    }
}
