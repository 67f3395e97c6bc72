//! The chains of callers through which callsites were called on a thread, and figures of each: those of ticks that have found it there, or, in a
//! call tree, those of its calls.
//!
//! # Recursion
//!
//! The report has a context for each chain of callers, in which a callsite stands once: a call inside another one of the same callsite
//! belongs to the outer one's context. So recursion makes no further contexts, also through other functions. But the inclusive time of a
//! callsite is that of all ticks during which it was running, also if the innermost calls belong to a context further out: in A → B → A, the
//! tick is in the context of the outer A, and B is running, too.
//!
//! So a place is more than a context. It knows the *chain*: the callsites that are running, in the order in which they were called first,
//! and which of them is innermost. The place of a call whose callsite is not running yet extends the chain of its caller; the place of a
//! recursive call has the chain of its caller. Every place has the time in which it was innermost. The context and the chain follow from the
//! place when the figures are read, and nothing has to be added up at a tick.

use core::cell::Cell;

use super::account::Usual;
use super::frame::{Frame, Place, Who};
use super::path_sums::PathSums;
use crate::record::counters::{FigureCell as _, Figures, PathFigures};
use crate::record::pages::Zeroed;
use crate::record::segments::Segments;
use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use tsc_report::__private::{Combine, How};

/// The place outside of all functions.
pub(crate) const ROOT: Place = Place(0);
/// The place of everything for which there is no room.
const OTHER: Place = Place(1);

/// All zeros is a place that is not in use.
#[derive(Debug)]
#[repr(C, align(64))]
struct PathsState<F> {
    /// The callsite's number + 1, so that 0 is none.
    callsite: AtomicU32,
    /// The last place that has extended the chain. It is this place itself unless the call is a recursive one.
    chain: AtomicU32,
    /// Of a place that extends the chain, the one that has extended it before. Of a recursive call, the one of the same callsite.
    outer: AtomicU32,
    /// Of a place that extends the chain, the place whose context is the caller.
    caller: AtomicU32,
    /// The list of places that are entered from this one begins with the one that was entered last; [`ROOT`] ends it.
    first_child: Cell<u16>,
    next_sibling: Cell<u16>,
    /// Only ticks need it.
    usual: Usual,
    figures: F,
}

/// The largest number of places of a thread.
const PLACES: usize = Segments::<PathsState<PathFigures>>::CAPACITY;
const _: () = assert!(PLACES <= 1 << u16::BITS);

// SAFETY: what is not figures are integers, for which zero is a value, and has no destructor.
unsafe impl<F: Zeroed> Zeroed for PathsState<F> {}

/// A place as another thread reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathTotals<S> {
    /// The callsite's number. `None` for the place outside of all functions, for the one of everything without room, and for one that is
    /// being made.
    pub(crate) callsite: Option<u32>,
    pub(crate) chain: usize,
    pub(crate) outer: usize,
    pub(crate) caller: usize,
    pub(crate) sums: S,
}

impl<S: Combine> Combine for PathTotals<S> {
    fn combine(&mut self, other: &Self, how: How) {
        self.sums.combine(&other.sums, how);
    }
}

/// The places of one thread, which alone adds to them; others may read them.
#[derive(Debug)]
pub(crate) struct Paths<F: Figures = PathFigures>(Segments<PathsState<F>>);

// SAFETY: the cells are used by the thread alone, through `place_of`, `child` and `add`. What others read, through `read`, are atomics.
unsafe impl<F: Figures> Sync for Paths<F> {}

impl<F: Figures> Paths<F> {
    /// The two first places. `None` if the system has no memory.
    pub(crate) fn new() -> Option<Self> {
        let paths = Self(Segments::new());
        for _ in [ROOT, OTHER] {
            let place = Place(paths.0.add()?);
            paths.state(place).chain.store(place.0, Relaxed);
        }
        Some(paths)
    }

    #[inline(always)]
    fn state(&self, place: Place) -> &PathsState<F> {
        self.0.get(place.0)
    }

    /// The figures of a place.
    #[inline(always)]
    pub(crate) fn figures(&self, place: Place) -> &F {
        &self.state(place).figures
    }

    /// The place of a callsite's calls that are made from `from`. `running` is where the callsite is running, if it is.
    pub(crate) fn child(&self, from: Place, callsite: u32, running: Option<Place>) -> Place {
        if from == OTHER {
            return OTHER;
        }
        self.find_child(from, callsite)
            .unwrap_or_else(|| self.add_child(from, callsite, running))
    }

    /// A known place, which becomes the first of its list.
    fn find_child(&self, from: Place, callsite: u32) -> Option<Place> {
        let list = &self.state(from).first_child;
        let mut before: Option<&PathsState<F>> = None;
        let mut child = list.get();
        // A signal handler that comes in between may leave a list in another order, but none that is longer than this.
        for _ in 0..PLACES {
            let place = Place(child.into());
            if place == ROOT {
                break;
            }
            let state = self.state(place);
            if state.callsite.load(Relaxed) == callsite + 1 {
                if let Some(before) = before {
                    before.next_sibling.set(state.next_sibling.get());
                    state.next_sibling.set(list.replace(child));
                }
                return Some(place);
            }
            before = Some(state);
            child = state.next_sibling.get();
        }
        None
    }

    fn add_child(&self, from: Place, callsite: u32, running: Option<Place>) -> Place {
        let Some(place) = self.0.add().map(Place) else {
            return OTHER;
        };
        let (state, parent) = (self.state(place), self.state(from));
        let chain = Place(parent.chain.load(Relaxed));
        let (own_chain, outer) = running.map_or((place, chain), |running| (chain, running));
        state.chain.store(own_chain.0, Relaxed);
        state.outer.store(outer.0, Relaxed);
        state.caller.store(from.0, Relaxed);
        let sibling = parent.first_child.replace(place.0 as u16);
        state.next_sibling.set(sibling);
        // Who sees the callsite must see the rest.
        state.callsite.store(callsite + 1, Release);
        place
    }

    /// All places. The indices in each are those of this list, in which a place comes after those that it refers to.
    pub(crate) fn read(&self) -> Vec<PathTotals<F::Total>> {
        let read = |index| {
            let state = self.state(Place(index));
            let callsite = state.callsite.load(Acquire);
            // What a place that is being made has by now is left for the next time: without its callsite it belongs nowhere.
            let is_made = callsite != 0 || index <= OTHER.0;
            let sums = is_made.then(|| state.figures.read());
            PathTotals {
                callsite: callsite.checked_sub(1),
                chain: state.chain.load(Relaxed) as usize,
                outer: state.outer.load(Relaxed) as usize,
                caller: state.caller.load(Relaxed) as usize,
                sums: sums.unwrap_or_default(),
            }
        };
        (0..self.0.used()).map(read).collect()
    }
}

/// The places in which ticks find the thread.
impl Paths {
    /// The place of the call with this frame. The frames that were not looked for before get theirs, too.
    ///
    /// # Safety
    ///
    /// The frame is null, or the innermost one of the calling thread; frames around it that have a place have one of these places.
    pub(crate) unsafe fn place_of(&self, innermost: *const Frame) -> Place {
        // The places follow from the outermost frame inwards, and frames know only those around them. So on the way outwards each frame
        // is linked to the one inside it, and on the way back the links are restored. This takes no memory, however deep the calls nest.
        let mut inner: *const Frame = core::ptr::null();
        let mut at = innermost;
        let mut place = ROOT;
        // SAFETY: linked frames belong to running functions, so they exist, and both of their fields are written.
        unsafe {
            while let Some(frame) = at.as_ref() {
                if let Who::Placed(known) = frame.who() {
                    place = known;
                    break;
                }
                let outer = frame.outer();
                frame.set_outer(inner);
                inner = at;
                at = outer;
            }
            while let Some(frame) = inner.as_ref() {
                let further = frame.outer();
                frame.set_outer(at);
                if let Who::Fresh(callsite) = frame.who()
                    && let Some(number) = callsite.number()
                {
                    place = self.enter(place, number);
                }
                frame.set_place(place);
                at = inner;
                inner = further;
            }
        }
        place
    }

    /// What is known of the function of a place.
    pub(crate) fn usual(&self, place: Place) -> &Usual {
        &self.state(place).usual
    }

    /// The number of a place's callsite.
    pub(crate) fn number_of(&self, place: Place) -> Option<u32> {
        self.state(place).callsite.load(Relaxed).checked_sub(1)
    }

    /// Adds to the figures of a place.
    pub(crate) fn add(&self, place: Place, part: &PathSums) {
        self.figures(place).add(part);
    }

    /// Divides time on the CPU among all places, in proportion to what they have and was not `taken`.
    pub(crate) fn divide(&self, on_cpu: i64, taken: &[PathTotals<PathSums>]) {
        let places = || (0..self.0.used()).map(Place);
        let taken = |place: Place| {
            taken
                .get(place.0 as usize)
                .map_or(0, |taken| taken.sums.on_cpu)
        };
        let of = |place: Place| self.figures(place).read().on_cpu - taken(place);
        let all: i64 = places().map(of).sum();
        let mut rest = on_cpu;
        for place in places().filter(|&place| of(place) != 0) {
            let part = (i128::from(on_cpu) * i128::from(of(place)) / i128::from(all)) as i64;
            rest -= part;
            self.add(place, &PathSums::time(part));
        }
        self.add(ROOT, &PathSums::time(rest));
    }

    /// The place of a call that is made from `from`.
    fn enter(&self, from: Place, callsite: u32) -> Place {
        let chain = Place(self.state(from).chain.load(Relaxed));
        let running = self.find_running(chain, callsite);
        if running == Some(chain) {
            // The chain ends with it, so this is its own place.
            return chain;
        }
        match self.child(from, callsite, running) {
            // Where there is no room, a call is its caller's, as if it were inlined: the callers keep its time.
            OTHER if from != ROOT => from,
            place => place,
        }
    }

    /// The place at which a callsite has joined the chain.
    fn find_running(&self, chain: Place, callsite: u32) -> Option<Place> {
        let outer = |&place: &Place| Some(Place(self.state(place).outer.load(Relaxed)));
        let places = core::iter::successors(Some(chain), outer);
        let mut places = places.take_while(|&place| place != ROOT);
        places.find(|&place| self.number_of(place) == Some(callsite))
    }
}
