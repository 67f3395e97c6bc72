//! The call trees of all threads merged into one, and whether trees are recorded.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use crate::environment;
use crate::record::contexts::{self, ContextTotals, Contexts, ROOT};
use crate::record::counters::ContextSums;
use crate::sync::atomic::{
    AtomicBool,
    Ordering::{AcqRel, Acquire},
};

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

/// A call tree: a node for every chain of callers through which a callsite was called on any thread.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// The index of each node, by its parent and its callsite.
    known: HashMap<(Option<usize>, Option<u32>), usize>,
}

/// A node of a [`Tree`].
#[derive(Debug)]
pub(crate) struct Node {
    /// The callsite's number; `None` for all calls for which a thread's tree had no room left.
    pub(crate) callsite: Option<u32>,
    /// The index of the parent, which precedes the node.
    pub(crate) parent: Option<usize>,
    pub(crate) sums: ContextSums,
}

impl Tree {
    /// The nodes, parents before their children.
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Whether each node has figures, or has a descendant with figures.
    pub(crate) fn needed(&self) -> Vec<bool> {
        let mut needed: Vec<bool> = self
            .nodes
            .iter()
            .map(|node| node.sums.calls != 0 || node.sums.own != 0 || node.sums.on_cpu != 0)
            .collect();
        // Children come after their parents.
        for (index, node) in self.nodes.iter().enumerate().rev() {
            if let (true, Some(parent)) = (needed[index], node.parent) {
                needed[parent] = true;
            }
        }
        needed
    }

    /// The numbers of the callsites of needed nodes.
    pub(super) fn callsites(&self) -> HashSet<u32> {
        let needed = self.nodes.iter().zip(self.needed());
        let needed = needed.filter(|(_, is_needed)| *is_needed);
        needed.filter_map(|(node, _)| node.callsite).collect()
    }

    /// Adds a thread's tree.
    pub(super) fn add(&mut self, contexts: impl Iterator<Item = ContextTotals>) {
        let mut places = vec![None];
        for context in contexts {
            let parent = places[context.parent as usize];
            places.push(Some(self.merge(parent, context.callsite, &context.sums)));
        }
    }

    /// Adds a callsite that was called outside any call on a thread with a tree.
    pub(super) fn add_root(&mut self, callsite: u32, sums: &ContextSums) {
        self.merge(None, Some(callsite), sums);
    }

    fn merge(&mut self, parent: Option<usize>, callsite: Option<u32>, sums: &ContextSums) -> usize {
        let place = match self.known.entry((parent, callsite)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.nodes.push(Node {
                    callsite,
                    parent,
                    sums: ContextSums::default(),
                });
                *new.insert(self.nodes.len() - 1)
            }
        };
        self.nodes[place].sums.merge(sums);
        place
    }
}

/// A thread's tree and the figures that were taken from it, like [`Own`](super::shard::Own) for records.
pub(super) struct ThreadTree {
    pub(super) contexts: Box<Contexts>,
    /// By node: the figures that were taken in later generations; empty if there are none.
    handed_out: Vec<ContextSums>,
}

impl ThreadTree {
    /// `None` if the system has no memory. Then the thread's calls are not in the tree.
    pub(super) fn new() -> Option<Self> {
        Some(Self {
            contexts: Box::new(Contexts::new()?),
            handed_out: Vec::new(),
        })
    }

    /// The figures that are recorded and not taken.
    pub(super) fn rest(&self) -> impl Iterator<Item = ContextTotals> {
        self.less_handed_out(self.contexts.read())
    }

    fn less_handed_out(
        &self,
        contexts: impl Iterator<Item = ContextTotals>,
    ) -> impl Iterator<Item = ContextTotals> {
        contexts.enumerate().map(|(index, mut context)| {
            if let Some(earlier) = self.handed_out.get(index) {
                context.sums.subtract(earlier);
            }
            context
        })
    }

    /// Adds the figures of earlier generations that are not taken, and notes them as taken. With `is_current` there are none.
    pub(super) fn hand_out(&mut self, tree: &mut Tree, is_current: bool) {
        if is_current {
            return;
        }
        let mut handed_out = Vec::new();
        // Read only once, because the thread continues meanwhile.
        let contexts = self
            .contexts
            .read()
            .inspect(|context| handed_out.push(context.sums.clone()));
        tree.add(self.less_handed_out(contexts));
        self.handed_out = handed_out;
    }

    /// Called when the thread has ended and its tree was added to that of ended threads.
    pub(super) fn forget(&mut self) {
        self.contexts.forget();
        self.handed_out = Vec::new();
    }

    /// Like [`Own::catch_up`](super::shard::Own::catch_up), for the tree's own thread.
    pub(super) fn catch_up(&mut self) {
        self.contexts.take_off(&self.handed_out);
        self.handed_out.clear();
    }
}

impl Tree {
    pub(super) fn add_tree(&mut self, other: &Self) {
        let mut places = Vec::with_capacity(other.nodes.len());
        for node in &other.nodes {
            let parent = node.parent.map(|parent| places[parent]);
            places.push(self.merge(parent, node.callsite, &node.sums));
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
        twice.add_tree(&tree);
        twice.add_tree(&tree);
        assert_eq!(calls(&twice)[2], (Some(8), Some(1), 22));
    }

    #[test]
    fn every_call_is_handed_out_once() {
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
        let handed_out = |own: &mut ThreadTree, is_current| {
            let mut tree = Tree::default();
            own.hand_out(&mut tree, is_current);
            tree.nodes().iter().map(|node| node.sums.calls).sum::<u64>()
        };
        (0..3).for_each(|_| call(&own));
        assert_eq!(handed_out(&mut own, false), 3);
        call(&own);
        own.catch_up();
        call(&own);
        assert_eq!(own.rest().map(|context| context.sums.calls).sum::<u64>(), 2);
        assert_eq!(handed_out(&mut own, true), 0);
        assert_eq!(handed_out(&mut own, false), 2);
        call(&own);
        assert_eq!(handed_out(&mut own, false), 1);
    }
}
