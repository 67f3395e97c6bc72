//! Figures by chain of callers, of all threads.

use std::collections::hash_map::{Entry, HashMap};

/// A node for every chain of callers through which a callsite was called.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chains<S> {
    nodes: Vec<Node<S>>,
    /// The index of each node, by its parent and its callsite.
    known: HashMap<(Option<usize>, Option<u32>), usize>,
}

/// A node of [`Chains`].
#[derive(Clone, Debug)]
pub(crate) struct Node<S> {
    /// The callsite's number; `None` for everything for which a thread had no room.
    pub(crate) callsite: Option<u32>,
    /// The index of the parent, which precedes the node.
    pub(crate) parent: Option<usize>,
    pub(crate) sums: S,
}

impl<S: Default> Chains<S> {
    /// The nodes, parents before their children.
    pub(crate) fn nodes(&self) -> &[Node<S>] {
        &self.nodes
    }

    /// The index of a node, which is made now if there is none.
    pub(super) fn place(&mut self, parent: Option<usize>, callsite: Option<u32>) -> usize {
        match self.known.entry((parent, callsite)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.nodes.push(Node {
                    callsite,
                    parent,
                    sums: S::default(),
                });
                *new.insert(self.nodes.len() - 1)
            }
        }
    }

    pub(super) fn at(&mut self, place: usize) -> &mut Node<S> {
        &mut self.nodes[place]
    }

    /// Adds the figures of other threads.
    pub(super) fn merge(&mut self, other: &Self, add: fn(&mut S, &S)) {
        let mut places = Vec::with_capacity(other.nodes.len());
        for node in &other.nodes {
            let parent = node.parent.map(|parent| places[parent]);
            let place = self.place(parent, node.callsite);
            add(&mut self.nodes[place].sums, &node.sums);
            places.push(place);
        }
    }
}
