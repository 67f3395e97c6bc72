//! The call trees of all threads merged into one, and whether trees are recorded.

use std::collections::HashSet;

use super::chains::Chains;
use crate::environment;
use crate::record::contexts::{self, ContextTotals, Contexts, ROOT};
use crate::sync::atomic::AtomicBool;
use crate::sync::atomic::Ordering::{AcqRel, Acquire};
use tsc_report::__private::{Combine, ContextSums};

/// Whether it is decided if call trees are recorded: by [`ask_for`], or at the first annotated call of the process.
static DECIDED: AtomicBool = AtomicBool::new(false);

/// Decides whether the call tree of every thread is recorded, from the first annotated call on; see [`tree`](crate::tree).
pub(crate) fn ask_for(tree: bool) -> bool {
    if !DECIDED.swap(true, AcqRel) && tree {
        contexts::record_all();
    }
    contexts::are_recorded() == tree
}

/// Called at an annotated call: if it is not decided yet, `TSC_TREE` decides.
pub(super) fn decide() {
    if !DECIDED.load(Acquire) {
        ask_for(is_wanted().unwrap_or(false));
    }
}

/// What `TSC_TREE` says.
pub(super) fn is_wanted() -> Option<bool> {
    environment::TREE.parse(environment::switch)
}

/// The call trees of some threads.
pub(crate) type Tree = Chains<ContextSums>;

impl Tree {
    /// Whether each node has figures, or has a descendant with figures.
    pub(crate) fn needed(&self) -> Vec<bool> {
        let mut needed: Vec<bool> = self
            .nodes()
            .iter()
            .map(|node| node.sums.calls != 0 || node.sums.own != 0 || node.sums.on_cpu != 0)
            .collect();
        // Children come after their parents.
        for (index, node) in self.nodes().iter().enumerate().rev() {
            if let (true, Some(parent)) = (needed[index], node.parent) {
                needed[parent] = true;
            }
        }
        needed
    }

    /// The numbers of the callsites of needed nodes.
    pub(super) fn callsites(&self) -> HashSet<u32> {
        let needed = self.nodes().iter().zip(self.needed());
        let needed = needed.filter(|(_, is_needed)| *is_needed);
        needed.filter_map(|(node, _)| node.callsite).collect()
    }

    /// Adds a thread's tree.
    pub(super) fn add(&mut self, contexts: impl Iterator<Item = ContextTotals>) {
        let mut places = vec![None];
        for context in contexts {
            let parent = places[context.parent as usize];
            places.push(Some(self.add_at(parent, context.callsite, &context.sums)));
        }
    }

    /// Adds a callsite that was called outside any call on a thread with a tree.
    pub(super) fn add_root(&mut self, callsite: u32, sums: &ContextSums) {
        self.add_at(None, Some(callsite), sums);
    }

    fn add_at(
        &mut self,
        parent: Option<usize>,
        callsite: Option<u32>,
        sums: &ContextSums,
    ) -> usize {
        let place = self.place(parent, callsite);
        self.at(place).sums.merge(sums);
        place
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
            now.push(context.sums.clone());
            if let Some(taken) = self.taken.get::<usize>(index) {
                context.sums.since(taken);
            }
            context
        });
        tree.add(rest);
        if takes {
            self.taken = now;
        }
    }
}

const _: () = assert!(ROOT == 0, "a thread's root is the first of its places");

#[cfg(test)]
mod tests {
    use super::*;

    fn context(callsite: u32, parent: u32, calls: u64) -> ContextTotals {
        ContextTotals {
            callsite: (callsite != 0).then_some(callsite),
            parent,
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
        tree.add([context(0, 0, 0), context(7, 0, 1), context(8, 2, 5)].into_iter());
        tree.add(
            [
                context(0, 0, 4),
                context(8, 0, 3),
                context(7, 0, 2),
                context(8, 3, 6),
            ]
            .into_iter(),
        );
        let expected = [
            (None, None, 4),
            (Some(7), None, 3),
            (Some(8), Some(1), 11),
            (Some(8), None, 3),
        ];
        assert_eq!(calls(&tree), expected);
        let mut twice = Tree::default();
        twice.merge(&tree, ContextSums::merge);
        twice.merge(&tree, ContextSums::merge);
        assert_eq!(calls(&twice)[2], (Some(8), Some(1), 22));
    }

    #[test]
    fn every_call_is_taken_once() {
        let mut own = ThreadTree::new().unwrap();
        let place = crate::record::contexts::Place::new();
        let call = |own: &ThreadTree| {
            let outer = own.contexts.enter(7, &place, false);
            let visit = crate::record::contexts::Visit {
                calls: 1,
                ..Default::default()
            };
            own.contexts.leave(outer, visit);
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
