//! Totals by callsite, apart for the threads of each name where the user asks for that.

use std::collections::BTreeMap;
use std::sync::Arc;

use once_cell::race::OnceBool;

use super::tree::Tree;
use crate::environment;
use crate::record::callsite::Callsite;
use crate::record::totals::Totals;

/// Which threads: those of this name, or those without. All of them, where no rows for threads are asked for.
pub(crate) type ThreadName = Option<Arc<str>>;

/// Callsites with their totals.
pub(crate) type CallsiteTotals = Vec<(&'static Callsite, Totals)>;

/// Every callsite that was called: with the totals of all threads, and with those of each name, if that is asked for.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) callsites: CallsiteTotals,
    pub(crate) by_thread: Vec<(ThreadName, CallsiteTotals)>,
    /// The call tree; without nodes if it is not recorded.
    pub(crate) tree: Tree,
}

/// By the threads' name, the totals by callsite number.
#[derive(Clone, Debug, Default)]
pub(super) struct Sheets(BTreeMap<ThreadName, Vec<Totals>>);

impl Sheets {
    /// The totals of threads of that name, for so many callsites at least.
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
                // There is but one.
                all = sheet;
                break;
            }
            all.resize_with(all.len().max(sheet.len()), Totals::default);
            for (all, part) in all.iter_mut().zip(&sheet) {
                all.merge(part);
            }
            by_thread.push((name, called(callsites, sheet)));
        }
        Figures {
            callsites: called(callsites, all),
            by_thread,
            tree,
        }
    }
}

fn called(callsites: &[Option<&'static Callsite>], totals: Vec<Totals>) -> CallsiteTotals {
    let called =
        |totals: &Totals| totals.calls() + totals.running + totals.polls + totals.cancelled != 0;
    callsites
        .iter()
        .zip(totals)
        .filter_map(|(callsite, totals)| {
            Some(((*callsite)?, totals)).filter(|(_, totals)| called(totals))
        })
        .collect()
}

/// Whether threads of different names are kept apart.
fn are_apart() -> bool {
    static APART: OnceBool = OnceBool::new();
    APART.get_or_init(|| {
        let value = environment::THREADS.parse(environment::switch);
        value.unwrap_or(false)
    })
}

/// The calling thread's.
pub(super) fn name_of_this_thread() -> ThreadName {
    are_apart()
        .then(|| std::thread::current().name().map(Arc::from))
        .flatten()
}
