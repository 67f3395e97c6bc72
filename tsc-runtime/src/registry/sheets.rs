//! Totals by callsite; also by the threads' names if the user asks for that.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use once_cell::race::OnceBool;

use super::tree::Tree;
use crate::environment;
use crate::record::callsite::Callsite;
use crate::record::totals::Totals;

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
}

/// The totals by callsite number, for each name of threads.
#[derive(Clone, Debug, Default)]
pub(super) struct Sheets(BTreeMap<ThreadName, Vec<Totals>>);

impl Sheets {
    /// The totals of the threads with this name, with room for at least `callsites` callsites.
    pub(super) fn of(&mut self, name: &ThreadName, callsites: usize) -> &mut Vec<Totals> {
        let sheet = self.0.entry(name.clone()).or_default();
        if sheet.len() < callsites {
            sheet.resize_with(callsites, Totals::default);
        }
        sheet
    }

    pub(super) fn figures(self, callsites: &[Option<&'static Callsite>], tree: Tree) -> Figures {
        let mut all = Vec::new();
        let mut by_thread = Vec::new();
        for (name, sheet) in self.0 {
            if !are_apart() {
                // There is only one.
                all = sheet;
                break;
            }
            all.resize_with(all.len().max(sheet.len()), Totals::default);
            for (all, part) in all.iter_mut().zip(&sheet) {
                all.merge(part);
            }
            by_thread.push((name, called(callsites, sheet, &HashSet::new())));
        }
        let in_tree = tree.callsites();
        all.resize_with(all.len().max(callsites.len()), Totals::default);
        Figures {
            callsites: called(callsites, all, &in_tree),
            by_thread,
            tree,
        }
    }
}

/// Includes callsites that are only `in_tree`, because a thread's tree is not read at the same moment as its records.
fn called(
    callsites: &[Option<&'static Callsite>],
    totals: Vec<Totals>,
    in_tree: &HashSet<u32>,
) -> CallsiteTotals {
    let called =
        |totals: &Totals| totals.calls() + totals.running + totals.polls + totals.cancelled != 0;
    callsites
        .iter()
        .zip(totals)
        .zip(0..)
        .filter(|((_, totals), number)| called(totals) || in_tree.contains(number))
        .filter_map(|((callsite, totals), _)| Some(((*callsite)?, totals)))
        .collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::callsite::Meta;
    use crate::record::contexts::ContextTotals;
    use crate::record::counters::ContextSums;
    use crate::tsc::Lfence;

    #[test]
    fn context_has_its_row_though_the_call_came_after_the_records_were_read() {
        static CALLSITE: Callsite = Callsite::new::<Lfence>(Meta {
            name: Some("late"),
            path: || "",
            module: module_path!(),
            file: file!(),
            line: line!(),
            unit: None,
            returns_iterator: false,
        });
        let rows = |calls| {
            let mut tree = Tree::default();
            let late = ContextTotals {
                callsite: Some(1),
                parent: 0,
                sums: ContextSums {
                    calls,
                    ..ContextSums::default()
                },
            };
            tree.add([late].into_iter());
            let figures = Sheets::default().figures(&[None, Some(&CALLSITE)], tree);
            figures.callsites.len()
        };
        assert_eq!((rows(1), rows(0)), (1, 0));
    }
}
