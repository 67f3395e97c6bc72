//! The call trees of all threads merged into one, and whether trees are recorded.

use std::collections::HashMap;

use crate::environment;
use crate::record::contexts;
use crate::record::counters::ContextSums;
use crate::record::light::{PathTotals, ROOT};
use tsc_report::__private::Combine;

/// Turns recording the call tree on or off, whatever `TSC_TREE` says. The tree is in [`Report::contexts`](crate::Report::contexts): the
/// calls and ticks of each function for every chain of annotated functions through which it was called.
///
/// This is decided once for the whole process, at the latest at its first annotated call. Returns whether the decision is as requested;
/// false means that the opposite was decided before. With the tree, a call costs some ticks more, which are calibrated and subtracted like
/// the others, and each thread takes up to 1 MiB.
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
    /// Parents before their children.
    pub(crate) nodes: Vec<Node>,
    /// The index of each node, by its parent and its callsite.
    known: HashMap<(Option<usize>, Option<u32>), usize>,
}

/// A callsite, called through a chain of others.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// The callsite's number; `None` of everything for which a thread had no room.
    pub(crate) callsite: Option<u32>,
    pub(crate) parent: Option<usize>,
    pub(crate) sums: ContextSums,
}

impl Tree {
    /// Whether the callsite of each number has a node.
    pub(super) fn has_nodes(&self) -> Vec<bool> {
        let numbers = || self.nodes.iter().filter_map(|node| node.callsite);
        let mut has = vec![false; numbers().max().map_or(0, |most| most as usize + 1)];
        numbers().for_each(|number| has[number as usize] = true);
        has
    }

    /// Adds a thread's tree.
    pub(super) fn add(&mut self, paths: &[PathTotals<ContextSums>]) {
        let nodes = self.nodes_of(paths);
        for (path, node) in paths.iter().zip(nodes) {
            if let Some(node) = node {
                self.nodes[node].sums.merge(&path.sums);
            }
        }
    }

    /// Adds a callsite that was called outside any call on a thread with a tree.
    pub(super) fn add_root(&mut self, callsite: u32, sums: &ContextSums) {
        let place = self.place(None, Some(callsite));
        self.nodes[place].sums.merge(sums);
    }

    /// The node of each place of a thread: that of its context. `None` where neither the place nor one in it has figures, and of the place
    /// outside of all functions.
    pub(super) fn nodes_of<S: Default + PartialEq>(
        &mut self,
        paths: &[PathTotals<S>],
    ) -> Vec<Option<usize>> {
        let mut is_used: Vec<bool> = paths.iter().map(|path| path.sums != S::default()).collect();
        for (index, path) in paths.iter().enumerate().rev() {
            if is_used[index] {
                for around in [path.chain, path.outer, path.caller] {
                    is_used[around] = true;
                }
            }
        }
        let mut nodes = vec![None; paths.len()];
        for (index, path) in paths.iter().enumerate() {
            if is_used[index] && index != ROOT.index() {
                let extends = path.chain == index;
                let own = extends.then(|| self.place(nodes[path.caller], path.callsite));
                nodes[index] = own.or(nodes[path.outer]);
            }
        }
        nodes
    }

    /// The index of a node, which is made now if there is none.
    fn place(&mut self, parent: Option<usize>, callsite: Option<u32>) -> usize {
        let known = self.known.entry((parent, callsite));
        *known.or_insert_with(|| {
            self.nodes.push(Node {
                callsite,
                parent,
                sums: ContextSums::default(),
            });
            self.nodes.len() - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::contexts::{Contexts, LastPlace};
    use crate::record::taken::rest;

    /// The places of a thread, the first of which stands for the calls without room: callsite, caller and calls.
    fn places<const N: usize>(of: [(u32, usize, u64); N]) -> Vec<PathTotals<ContextSums>> {
        let place = |index, (callsite, caller, calls)| PathTotals {
            callsite: (callsite != 0).then_some(callsite),
            chain: index,
            outer: caller,
            caller,
            sums: ContextSums {
                calls,
                ..ContextSums::default()
            },
        };
        let outside = [(0, 0, 0)].into_iter().chain(of);
        (0..).zip(outside).map(|(at, of)| place(at, of)).collect()
    }

    fn calls(tree: &Tree) -> Vec<(Option<u32>, Option<usize>, u64)> {
        tree.nodes
            .iter()
            .map(|node| (node.callsite, node.parent, node.sums.calls))
            .collect()
    }

    #[test]
    fn chains_are_the_same_whatever_the_order() {
        let mut tree = Tree::default();
        tree.add(&places([(0, 0, 0), (7, 0, 1), (8, 2, 5)]));
        tree.add(&places([(0, 0, 4), (8, 0, 3), (7, 0, 2), (8, 3, 6)]));
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
        let (contexts, mut taken) = (Contexts::new().unwrap(), Vec::new());
        let last = LastPlace::new();
        let call = || {
            let outer = contexts.enter(7, &last, false);
            let visit = ContextSums {
                calls: 1,
                ..Default::default()
            };
            contexts.leave(outer, &visit);
        };
        let mut read = |takes| {
            let mut tree = Tree::default();
            tree.add(&rest(contexts.read(), &mut taken, takes));
            tree.nodes.iter().map(|node| node.sums.calls).sum::<u64>()
        };
        (0..3).for_each(|_| call());
        assert_eq!((read(false), read(true)), (3, 3));
        assert_eq!(read(true), 0);
        (0..2).for_each(|_| call());
        assert_eq!((read(false), read(true)), (2, 2));
        call();
        assert_eq!(read(true), 1);
    }
}
