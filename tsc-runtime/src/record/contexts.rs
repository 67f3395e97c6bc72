//! The call tree of one thread: a node for every chain of callers through which a callsite was called.
//!
//! A chain holds each callsite once: a call inside another one of the same callsite belongs to the outer one's node, so recursion,
//! also through other functions, makes no further nodes. Nodes come from the system by the page and not from the allocator, so that a call
//! may make one wherever it comes from. What finds no free node belongs to one node for all the rest, [`OTHER`].

use std::cell::Cell;

use once_cell::race::OnceBool;

use super::counters::{ContextFigures, ContextSums, Sum};
use super::pages::Zeroed;
use super::segments::Segments;
use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The node that stands for the thread, the parent of its outermost calls.
pub(crate) const ROOT: u32 = 0;
/// The node of all calls that found no free one, and of all calls in them.
pub(crate) const OTHER: u32 = 1;
/// No callsite's number in a tree: that of [`OTHER`], and of a node that is being made.
const NO_CALLSITE: u32 = 0;
/// No node of any thread: where a callsite is that was not called yet.
const NOWHERE: u32 = u32::MAX;
/// The largest number of nodes of a thread.
const NODES: usize = Segments::<Node>::CAPACITY;

/// Whether call trees are recorded, once that is decided.
static RECORDED: OnceBool = OnceBool::new();

/// Decides it, unless it is decided. Returns whether they are recorded.
pub(crate) fn decide(are_recorded: impl FnOnce() -> bool) -> bool {
    RECORDED.get_or_init(are_recorded)
}

/// Whether it is decided that they are.
pub(crate) fn are_recorded() -> bool {
    RECORDED.get() == Some(true)
}

/// A callsite, called through a chain of others. All zeros is a node that is not in use.
#[repr(C, align(64))]
struct Node {
    callsite: AtomicU32,
    parent: AtomicU32,
    /// The list of the node's children begins with the one that was called last; [`ROOT`] ends it.
    first_child: Cell<u32>,
    next_sibling: Cell<u32>,
    figures: ContextFigures,
}

// SAFETY: all of a node's fields are integers, in atomics or cells, for which zero is a value.
unsafe impl Zeroed for Node {}

/// The nodes of one thread, which alone adds to them; others may read them.
pub(crate) struct Contexts {
    nodes: Segments<Node>,
    /// The node of the innermost running call.
    current: Cell<u32>,
}

// SAFETY: `current` and the lists of children are used by the thread alone, through `enter` and `leave`; what others read, through
// `read`, are atomics.
unsafe impl Sync for Contexts {}

/// A node as others read it, in a list of which the parents precede their children.
#[derive(Clone, Debug)]
pub(crate) struct ContextTotals {
    /// The callsite's number; `None` of everything for which a thread had no room, and of a node that is being made, whose figures are none yet.
    pub(crate) callsite: Option<u32>,
    /// The index of the parent in the list.
    pub(crate) parent: Option<usize>,
    pub(crate) sums: ContextSums,
}

/// What a record keeps for the call tree of its thread.
#[derive(Debug)]
pub(crate) struct Place {
    /// The callsite's node that was used last: that of the running calls, if there are any.
    node: Cell<u32>,
    /// The parent of that node. It is kept here as well, because a start has to wait for it, and here it is one load closer.
    parent: Cell<u32>,
}

impl Place {
    pub(crate) const fn new() -> Self {
        Self {
            node: Cell::new(NOWHERE),
            parent: Cell::new(NOWHERE),
        }
    }
}

impl Contexts {
    /// `None` if the system has no memory.
    pub(crate) fn new() -> Option<Self> {
        let nodes = Segments::new();
        for first in [ROOT, OTHER] {
            debug_assert_eq!(nodes.used(), first);
            nodes.add()?;
        }
        Some(Self {
            nodes,
            current: Cell::new(ROOT),
        })
    }

    #[inline(always)]
    fn node(&self, index: u32) -> &Node {
        self.nodes.get(index)
    }

    /// A call starts. Returns the node that was current, for [`leave`](Self::leave). `is_running` is whether other calls of the callsite
    /// are running.
    pub(crate) fn enter(&self, callsite: u32, place: &Place, is_running: bool) -> u32 {
        let outer = self.current();
        if !self.enter_known(outer, place) {
            self.enter_found(callsite, place, is_running);
        }
        outer
    }

    /// The node of the innermost running call.
    #[inline(always)]
    pub(crate) fn current(&self) -> u32 {
        self.current.get()
    }

    /// The usual start of a call, from the node `outer`, which is the current one: the callsite's last call came from there, too, or the
    /// callsite calls itself. Returns false if neither is true; then [`enter_found`](Self::enter_found) does the rest.
    #[inline(always)]
    pub(crate) fn enter_known(&self, outer: u32, place: &Place) -> bool {
        let node = place.node.get();
        let is_known = place.parent.get() == outer || node == outer;
        if is_known {
            self.current.set(node);
        }
        is_known
    }

    /// The rest of a start that [`enter_known`](Self::enter_known) has left.
    pub(crate) fn enter_found(&self, callsite: u32, place: &Place, is_running: bool) {
        if !is_running {
            let outer = self.current();
            place.node.set(self.find(outer, callsite));
            place.parent.set(outer);
        }
        self.current.set(place.node.get());
    }

    /// The call stops for which [`enter`](Self::enter) returned `outer`. A poll is no call: [`count`](Self::count) counts futures.
    #[inline(always)]
    pub(crate) fn leave(&self, outer: u32, visit: &ContextSums) {
        self.node(self.current.replace(outer)).figures.add(visit);
    }

    /// The stop of a usual call, which was neither interrupted nor long and had `own` net ticks outside annotated callees. Returns the
    /// node's ticks on the CPU, to which a call adds its own if it was inside no other of the same callsite.
    #[inline(always)]
    pub(crate) fn leave_usual(&self, outer: u32, own: i64) -> &Sum {
        let figures = &self.node(self.current.get()).figures;
        self.current.set(outer);
        figures.calls.add(1);
        figures.own.add(own);
        &figures.on_cpu
    }

    /// A call is counted in the place's node: a future completes that was polled there last.
    pub(crate) fn count(&self, place: &Place) {
        self.node(place.node.get()).figures.calls.add(1);
    }

    /// The child of `parent` for `callsite`, which becomes the first of its list.
    #[inline(never)]
    fn find(&self, parent: u32, callsite: u32) -> u32 {
        if parent == OTHER {
            return OTHER;
        }
        let list = &self.node(parent).first_child;
        let mut before: Option<&Node> = None;
        let mut child = list.get();
        // A signal handler that comes in between may leave a list in another order, but none that is longer than this.
        for _ in 0..NODES {
            if child == ROOT {
                break;
            }
            let node = self.node(child);
            if node.callsite.load(Relaxed) == callsite {
                if let Some(before) = before {
                    before.next_sibling.set(node.next_sibling.get());
                    node.next_sibling.set(list.replace(child));
                }
                return child;
            }
            before = Some(node);
            child = node.next_sibling.get();
        }
        self.add(parent, callsite)
    }

    fn add(&self, parent: u32, callsite: u32) -> u32 {
        let Some(index) = self.nodes.add() else {
            return OTHER;
        };
        let node = self.node(index);
        node.parent.store(parent, Relaxed);
        // Who sees the callsite must see the parent.
        node.callsite.store(callsite, Release);
        node.next_sibling
            .set(self.node(parent).first_child.replace(index));
        index
    }

    /// Every node but the root.
    pub(crate) fn read(&self) -> impl Iterator<Item = ContextTotals> {
        (OTHER..self.nodes.used()).map(|index| {
            let node = self.node(index);
            let callsite = node.callsite.load(Acquire);
            let callsite = (callsite != NO_CALLSITE).then_some(callsite);
            // What a node that is being made has by now is left for the next time: without its callsite it belongs nowhere.
            let is_made = callsite.is_some() || index == OTHER;
            ContextTotals {
                callsite,
                parent: node
                    .parent
                    .load(Relaxed)
                    .checked_sub(OTHER)
                    .map(|at| at as usize),
                sums: if is_made {
                    node.figures.read()
                } else {
                    ContextSums::default()
                },
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: u32 = 7;
    const B: u32 = 8;
    const C: u32 = 9;

    /// A thread's call tree, with what each callsite keeps for it.
    struct Thread {
        contexts: Contexts,
        callsites: Vec<(Place, Cell<u32>)>,
    }

    impl Thread {
        fn new() -> Self {
            Self {
                contexts: Contexts::new().unwrap(),
                callsites: (0..20_000).map(|_| (Place::new(), Cell::new(0))).collect(),
            }
        }

        /// Calls `callsite`, in which `inside` happens; every call takes a tick more than its callees.
        fn call(&mut self, callsite: u32, inside: impl FnOnce(&mut Self) -> i64) -> i64 {
            let (place, running) = &self.callsites[callsite as usize];
            let is_inner = running.replace(running.get() + 1) != 0;
            let outer = self.contexts.enter(callsite, place, is_inner);
            let own = 1;
            let ticks = own + inside(self);
            let visit = ContextSums {
                calls: 1,
                on_cpu: if is_inner { 0 } else { ticks },
                own,
                ..ContextSums::default()
            };
            let running = &self.callsites[callsite as usize].1;
            running.set(running.get() - 1);
            self.contexts.leave(outer, &visit);
            ticks
        }

        fn leaf(&mut self, callsite: u32) -> i64 {
            self.call(callsite, |_| 0)
        }

        /// The chains of callsites, outermost first, with their calls, inclusive and own ticks.
        fn chains(&self) -> Vec<(Vec<u32>, u64, i64, i64)> {
            let nodes: Vec<_> = self.contexts.read().collect();
            let mut chains: Vec<_> = nodes
                .iter()
                .filter(|node| node.sums.calls != 0)
                .map(|node| {
                    let mut chain = vec![node.callsite.unwrap_or(0)];
                    let mut parent = node.parent;
                    while let Some(at) = parent {
                        let node = &nodes[at];
                        chain.insert(0, node.callsite.unwrap_or(0));
                        parent = node.parent;
                    }
                    (chain, node.sums.calls, node.sums.on_cpu, node.sums.own)
                })
                .collect();
            chains.sort();
            chains
        }
    }

    #[test]
    fn callsite_has_a_node_for_every_chain_of_callers() {
        let mut thread = Thread::new();
        for _ in 0..3 {
            thread.call(A, |thread| thread.leaf(C) + thread.leaf(C));
            thread.call(B, |thread| {
                thread.leaf(C) + thread.call(A, |thread| thread.leaf(C))
            });
        }
        assert_eq!(
            thread.chains(),
            [
                (vec![A], 3, 9, 3),
                (vec![A, C], 6, 6, 6),
                (vec![B], 3, 12, 3),
                (vec![B, A], 3, 6, 3),
                (vec![B, A, C], 3, 3, 3),
                (vec![B, C], 3, 3, 3),
            ]
        );
    }

    #[test]
    fn recursion_makes_no_nodes_and_counts_the_outermost_call() {
        let mut thread = Thread::new();
        thread.call(A, |thread| {
            thread.call(A, |thread| {
                thread.call(B, |thread| thread.call(A, |thread| thread.leaf(B)))
            })
        });
        assert_eq!(thread.chains(), [(vec![A], 3, 5, 3), (vec![A, B], 2, 3, 2)]);
    }

    #[test]
    fn own_ticks_add_up_to_the_outermost_calls() {
        let mut thread = Thread::new();
        let total: i64 = (0..50)
            .map(|n| {
                thread.call(1 + n % 5, |thread| {
                    (0..n % 7)
                        .map(|m| thread.call(1 + m, |thread| thread.leaf(1 + n % 11)))
                        .sum()
                })
            })
            .sum();
        let chains = thread.chains();
        assert_eq!(chains.iter().map(|chain| chain.3).sum::<i64>(), total);
    }

    #[test]
    fn calls_beyond_the_last_node_are_counted_together() {
        let mut thread = Thread::new();
        for callsite in 1..18_000 {
            thread.leaf(callsite);
        }
        thread.call(19_000, |thread| thread.leaf(A));
        let nodes: Vec<_> = thread.contexts.read().collect();
        assert_eq!(nodes.len(), NODES - 1);
        let calls: u64 = nodes.iter().map(|node| node.sums.calls).sum();
        assert_eq!(calls, 18_001);
        assert_eq!(nodes[0].callsite, None);
        assert_eq!(nodes[0].sums.calls, 18_001 - (NODES as u64 - 2));
    }
}
