//! The call tree of one thread: a place for every chain of callers through which a callsite was called.
//!
//! A chain holds each callsite once: a call inside another one of the same callsite belongs to the outer one's place, so recursion,
//! also through other functions, makes no further ones.

use std::cell::Cell;

use once_cell::race::OnceBool;

use super::counters::{ContextFigures, ContextSums, Figures, Sum};
use super::light::{PathTotals, Paths, Place, ROOT};
use crate::tsc::{Ticks, clock};

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

/// The call tree of one thread.
pub(crate) struct Contexts {
    paths: Paths<ContextFigures>,
    /// The place of the innermost running call. For the thread alone.
    current: Cell<Place>,
    began: Ticks,
}

// SAFETY: `current` is used by the thread alone. Others call `read`, which uses `paths`.
unsafe impl Sync for Contexts {}

/// What a record keeps for the call tree of its thread.
#[derive(Debug)]
pub(crate) struct LastPlace {
    /// The callsite's place that was used last: that of the running calls, if there are any. Of a callsite that was not called yet, one that
    /// no thread has.
    place: Cell<Place>,
    /// Where that place was entered from. It is kept here as well, because a start has to wait for it, and here it is one load closer.
    from: Cell<Place>,
}

impl LastPlace {
    pub(crate) const fn new() -> Self {
        Self {
            place: Cell::new(Place::NOWHERE),
            from: Cell::new(Place::NOWHERE),
        }
    }
}

impl Contexts {
    /// `None` if the system has no memory.
    pub(crate) fn new() -> Option<Self> {
        Some(Self {
            paths: Paths::new()?,
            current: Cell::new(ROOT),
            began: clock::now(),
        })
    }

    /// Whether there was this tree at `start`.
    pub(crate) fn has_begun_by(&self, start: Ticks) -> bool {
        self.began <= start
    }

    /// A call starts. Returns the place that was current, for [`leave`](Self::leave). `is_running` is whether other calls of the callsite
    /// are running.
    pub(crate) fn enter(&self, callsite: u32, last: &LastPlace, is_running: bool) -> Place {
        let outer = self.current();
        if !self.enter_known(outer, last) {
            self.enter_found(callsite, last, is_running);
        }
        outer
    }

    /// The place of the innermost running call.
    #[inline(always)]
    pub(crate) fn current(&self) -> Place {
        self.current.get()
    }

    /// The usual start of a call, from the place `outer`, which is the current one: the callsite's last call came from there, too, or the
    /// callsite calls itself. Returns false if neither is true; then [`enter_found`](Self::enter_found) does the rest.
    #[inline(always)]
    pub(crate) fn enter_known(&self, outer: Place, last: &LastPlace) -> bool {
        let place = last.place.get();
        let is_known = last.from.get() == outer || place == outer;
        if is_known {
            self.current.set(place);
        }
        is_known
    }

    /// The rest of a start that [`enter_known`](Self::enter_known) has left.
    #[inline(never)]
    pub(crate) fn enter_found(&self, callsite: u32, last: &LastPlace, is_running: bool) {
        if !is_running {
            let outer = self.current();
            last.place.set(self.paths.child(outer, callsite, None));
            last.from.set(outer);
        }
        self.current.set(last.place.get());
    }

    /// The call stops for which [`enter`](Self::enter) returned `outer`. A poll is no call: [`count`](Self::count) counts futures.
    #[inline(always)]
    pub(crate) fn leave(&self, outer: Place, visit: &ContextSums) {
        self.paths.figures(self.current.replace(outer)).add(visit);
    }

    /// The stop of a usual call, which was neither interrupted nor long and had `own` net ticks outside annotated callees. Returns the
    /// place's ticks on the CPU, to which a call adds its own if it was inside no other of the same callsite.
    #[inline(always)]
    pub(crate) fn leave_usual(&self, outer: Place, own: i64) -> &Sum {
        let figures = self.paths.figures(self.current.replace(outer));
        figures.calls.add(1);
        figures.own.add(own);
        &figures.on_cpu
    }

    /// Counts the call of a future that completes: at the place of the callsite's last poll on this thread, or below the current place if no poll
    /// of it was measured on this thread.
    pub(crate) fn count(&self, callsite: u32, last: &LastPlace) {
        let place = match last.place.get() {
            Place::NOWHERE => self.paths.child(self.current(), callsite, None),
            known => known,
        };
        self.paths.figures(place).calls.add(1);
    }

    /// All places.
    pub(crate) fn read(&self) -> Vec<PathTotals<ContextSums>> {
        self.paths.read()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest number of places of a thread.
    const PLACES: usize = 1 << 14;
    const A: u32 = 7;
    const B: u32 = 8;
    const C: u32 = 9;

    /// A thread's call tree, with what each callsite keeps for it.
    struct Thread {
        contexts: Contexts,
        callsites: Vec<(LastPlace, Cell<u32>)>,
    }

    impl Thread {
        fn new() -> Self {
            Self {
                contexts: Contexts::new().unwrap(),
                callsites: (0..20_000)
                    .map(|_| (LastPlace::new(), Cell::new(0)))
                    .collect(),
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
            let places = self.contexts.read();
            let called = places.iter().filter(|place| place.sums.calls != 0);
            let mut chains: Vec<_> = called
                .map(|place| {
                    let mut chain = vec![place.callsite.unwrap_or(0)];
                    let mut caller = place.caller;
                    while caller != ROOT.index() {
                        chain.insert(0, places[caller].callsite.unwrap_or(0));
                        caller = places[caller].caller;
                    }
                    (chain, place.sums.calls, place.sums.on_cpu, place.sums.own)
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
        let places = thread.contexts.read();
        assert_eq!(places.len(), PLACES);
        let calls: u64 = places.iter().map(|place| place.sums.calls).sum();
        assert_eq!(calls, 18_001);
        // The first one is outside of all calls.
        assert_eq!(places[1].callsite, None);
        assert_eq!(places[1].sums.calls, 18_001 - (PLACES as u64 - 2));
    }
}
