//! The call trees of all threads merged into one, and whether trees are recorded.

use std::collections::HashSet;
use std::collections::hash_map::{Entry, HashMap};

use crate::environment;
use crate::record::contexts::{self, ContextTotals, Contexts, ROOT};
use crate::record::counters::ContextSums;
use tsc_report::__private::Combine;

/// Turns recording the call tree on or off, whatever `TSC_TREE` says. The tree is in [`Report::contexts`](crate::Report::contexts): the
/// calls and ticks of each function for every chain of annotated functions through which it was called.
///
/// This is decided once for the whole process, at the latest at its first annotated call. Returns whether the decision is as requested;
/// false means that the opposite was decided before. With the tree, a call costs some ticks more, which are calibrated and subtracted like
/// the others, and each thread takes up to 2 MiB.
///
/// ```
/// let is_recorded = tsc_runtime::tree(true);
/// // … the work in question …
/// if is_recorded {
///     let report = tsc_runtime::snapshot();
///     for context in report.contexts() {
///         if let Some(calls) = context.calls() {
///             println!("{}: {calls} calls", report.name_of_context(context));
///         }
///     }
/// }
/// ```
pub fn record(recorded: bool) -> bool {
    contexts::decide(|| recorded) == recorded
}

/// Called at an annotated call: if it is not decided yet, `TSC_TREE` decides.
pub(super) fn decide() {
    contexts::decide(|| is_wanted().unwrap_or(false));
}

/// What `TSC_TREE` says.
pub(super) fn is_wanted() -> Option<bool> {
    environment::TREE.parse(environment::switch)
}

/// A node for every chain of callers in which some threads have figures, and for the beginnings of these chains.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<ContextTotals>,
    /// The index of each node, by its parent and its callsite.
    known: HashMap<(Option<usize>, Option<u32>), usize>,
}

impl Tree {
    /// The nodes, parents before their children.
    pub(crate) fn nodes(&self) -> &[ContextTotals] {
        &self.nodes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The numbers of the callsites of all nodes.
    pub(super) fn callsites(&self) -> HashSet<u32> {
        self.nodes.iter().filter_map(|node| node.callsite).collect()
    }

    /// Adds a thread's tree.
    pub(super) fn add(&mut self, contexts: &[ContextTotals]) {
        let mut places = vec![None; contexts.len()];
        for (index, context) in contexts.iter().enumerate() {
            if context.sums != ContextSums::default() {
                let chain = |index: usize| (contexts[index].callsite, contexts[index].parent);
                let node = self.node_of(index, &mut places, chain);
                node.sums.merge(&context.sums);
            }
        }
    }

    /// Adds a callsite that was called outside any call on a thread with a tree.
    pub(super) fn add_root(&mut self, callsite: u32, sums: &ContextSums) {
        let place = self.place(None, Some(callsite));
        self.nodes[place].sums.merge(sums);
    }

    /// The node of a thread's chain of callers. `chain` has the callsite and the caller of each of the thread's chains, and `places` the nodes
    /// of those that were looked for before.
    pub(super) fn node_of(
        &mut self,
        index: usize,
        places: &mut [Option<usize>],
        chain: impl Fn(usize) -> (Option<u32>, Option<usize>),
    ) -> &mut ContextTotals {
        // From the end of the chain to the first caller that is known, and back.
        let (mut callees, mut at) = (Vec::new(), Some(index));
        let mut place = None;
        while let Some(index) = at {
            place = places[index];
            if place.is_some() {
                break;
            }
            callees.push(index);
            at = chain(index).1;
        }
        for index in callees.into_iter().rev() {
            place = Some(self.place(place, chain(index).0));
            places[index] = place;
        }
        &mut self.nodes[place.unwrap_or_default()]
    }

    /// The index of a node, which is made now if there is none.
    fn place(&mut self, parent: Option<usize>, callsite: Option<u32>) -> usize {
        match self.known.entry((parent, callsite)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.nodes.push(ContextTotals {
                    callsite,
                    parent,
                    sums: ContextSums::default(),
                });
                *new.insert(self.nodes.len() - 1)
            }
        }
    }
}

/// A thread's tree and the figures that were taken from it, like [`Own`](super::shard::Own) for records.
pub(super) struct ThreadTree {
    pub(super) contexts: Box<Contexts>,
    /// By node: the figures that were taken, which are still in the tree.
    taken: Vec<ContextSums>,
}

impl ThreadTree {
    /// `None` if the system has no memory. Then the thread's calls are not in the tree.
    pub(super) fn new() -> Option<Self> {
        Some(Self {
            contexts: Box::new(Contexts::new()?),
            taken: Vec::new(),
        })
    }

    /// Adds the figures that were not taken. With `takes`, they are taken from now on.
    pub(super) fn add_to(&mut self, tree: &mut Tree, takes: bool) {
        let mut now = Vec::new();
        // Read only once, because the thread continues meanwhile.
        let rest = (0..).zip(self.contexts.read()).map(|(index, mut context)| {
            now.push(context.sums);
            if let Some(taken) = self.taken.get::<usize>(index) {
                context.sums.since(taken);
            }
            context
        });
        tree.add(&rest.collect::<Vec<_>>());
        if takes {
            self.taken = now;
        }
    }
}

const _: () = assert!(ROOT == 0, "a thread's root is the first of its places");

#[cfg(test)]
mod tests {
    use super::*;

    fn context(callsite: u32, parent: usize, calls: u64) -> ContextTotals {
        ContextTotals {
            callsite: (callsite != 0).then_some(callsite),
            parent: parent.checked_sub(1),
            sums: ContextSums {
                calls,
                ..ContextSums::default()
            },
        }
    }

    fn calls(tree: &Tree) -> Vec<(Option<u32>, Option<usize>, u64)> {
        tree.nodes()
            .iter()
            .map(|node| (node.callsite, node.parent, node.sums.calls))
            .collect()
    }

    #[test]
    fn chains_are_the_same_whatever_the_order() {
        let mut tree = Tree::default();
        // A thread's first node stands for the calls without room.
        tree.add(&[context(0, 0, 0), context(7, 0, 1), context(8, 2, 5)]);
        tree.add(&[
            context(0, 0, 4),
            context(8, 0, 3),
            context(7, 0, 2),
            context(8, 3, 6),
        ]);
        let expected = [
            (Some(7), None, 3),
            (Some(8), Some(0), 11),
            (None, None, 4),
            (Some(8), None, 3),
        ];
        assert_eq!(calls(&tree), expected);
    }

    #[test]
    fn every_call_is_taken_once() {
        let mut own = ThreadTree::new().unwrap();
        let place = crate::record::contexts::Place::new();
        let call = |own: &ThreadTree| {
            let outer = own.contexts.enter(7, &place, false);
            let visit = ContextSums {
                calls: 1,
                ..Default::default()
            };
            own.contexts.leave(outer, &visit);
        };
        let read = |own: &mut ThreadTree, takes| {
            let mut tree = Tree::default();
            own.add_to(&mut tree, takes);
            tree.nodes().iter().map(|node| node.sums.calls).sum::<u64>()
        };
        (0..3).for_each(|_| call(&own));
        assert_eq!((read(&mut own, false), read(&mut own, true)), (3, 3));
        assert_eq!(read(&mut own, true), 0);
        (0..2).for_each(|_| call(&own));
        assert_eq!((read(&mut own, false), read(&mut own, true)), (2, 2));
        call(&own);
        assert_eq!(read(&mut own, true), 1);
    }
}
