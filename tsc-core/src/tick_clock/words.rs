//! The words of the threads that have light probes, each of which other threads can make stale: then the thread's next light probe takes the cold
//! path.
//!
//! # Why no tick is lost
//!
//! Whoever has news writes it down first, then makes the word stale; the thread arms its word first, then reads the news. Between the two steps,
//! both have a fence that orders all of them. So if the thread does not read the news, it has armed the word before, and the word is made stale
//! after that. The kernel may clear the word at any time. A word that is cleared stays so until the thread arms it, or is only marked by a tick,
//! so that its thread also learns that it was interrupted.
//!
//! # Why no word is used that no longer exists
//!
//! The clock's thread may not wait for a lock (see [`thread`](super::thread)). So it says that it reads the places, and then reads the addresses in
//! them; a thread that ends takes its address out, and then waits until nobody reads. Whoever begins to read afterwards does not find the address.

use std::ptr;
use std::time::Duration;

use crate::interruption::{current, stale, ticked_after_cleared};
use crate::sync::atomic::{
    AtomicPtr, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
    fence,
};
use crate::sync::sleep;

/// So many threads at once can follow a clock. Only the pages of the places that have been used take memory.
const MOST: usize = 16 << 10;

/// Makes a word stale, unless it is so or was cleared.
pub(crate) fn make_stale(word: &AtomicUsize) {
    // Without the first look, the words of threads that sleep would move from their caches at every tick.
    if word.load(Relaxed) == current() {
        let _ = word.compare_exchange(current(), stale(), SeqCst, Relaxed);
    }
}

/// The same at a tick of the clock, which also marks a word that was cleared.
fn make_stale_by_tick(word: &AtomicUsize) {
    make_stale(word);
    if word.load(Relaxed) == 0 {
        let _ = word.compare_exchange(0, ticked_after_cleared(), SeqCst, Relaxed);
    }
}

/// The words of all threads that follow a clock. In the child of a fork there are none.
#[derive(Debug)]
pub(crate) struct Words {
    /// So many threads read the places at the moment.
    readers: AtomicUsize,
    /// So many places have been used.
    used: AtomicUsize,
    /// The addresses of the words; null where there is none.
    places: [AtomicPtr<AtomicUsize>; MOST],
}

impl Words {
    pub(super) const fn new() -> Self {
        Self {
            readers: AtomicUsize::new(0),
            used: AtomicUsize::new(0),
            places: [const { AtomicPtr::new(ptr::null_mut()) }; MOST],
        }
    }

    fn used(&self) -> &[AtomicPtr<AtomicUsize>] {
        &self.places[..self.used.load(SeqCst)]
    }

    /// Adds a word. Returns false if there are too many.
    ///
    /// # Safety
    ///
    /// The word exists until it is removed.
    pub(crate) unsafe fn add(&self, word: *const AtomicUsize) -> bool {
        let place = put(&self.places, ptr::null(), word);
        if let Some(place) = place {
            self.used.fetch_max(place + 1, SeqCst);
        }
        place.is_some()
    }

    /// Replaces a word of the list, if it is there. Nobody uses the old one afterwards.
    ///
    /// # Safety
    ///
    /// As for [`add`](Self::add).
    pub(crate) unsafe fn replace(&self, old: *const AtomicUsize, new: *const AtomicUsize) {
        if put(self.used(), old, new).is_some() {
            while self.readers.load(SeqCst) != 0 {
                sleep(Duration::from_micros(10));
            }
        }
    }

    /// Removes a word, if it is there.
    pub(crate) fn remove(&self, word: *const AtomicUsize) {
        if !word.is_null() {
            // SAFETY: no word takes its place.
            unsafe { self.replace(word, ptr::null()) };
        }
    }

    /// Makes all words stale: the next light probe of every thread takes the cold path.
    pub(crate) fn make_stale(&self) {
        self.for_each(make_stale);
    }

    /// The same at a tick of the clock.
    pub(super) fn make_stale_by_tick(&self) {
        self.for_each(make_stale_by_tick);
    }

    fn for_each(&self, f: impl Fn(&AtomicUsize)) {
        fence(SeqCst);
        self.readers.fetch_add(1, SeqCst);
        for place in self.used() {
            // SAFETY: whoever takes the address out waits for this thread before the word ceases to exist.
            if let Some(word) = unsafe { place.load(SeqCst).as_ref() } {
                f(word);
            }
        }
        // In the child of a fork that a signal handler has made meanwhile, this thread is no longer counted.
        if self.readers.fetch_sub(1, SeqCst) == 0 {
            self.readers.fetch_add(1, SeqCst);
        }
    }

    /// Forgets the words of the parent, in the child of a fork.
    #[cfg(all(unix, any(all(test, shuttle), not(miri))))] // no process is forked elsewhere
    pub(crate) fn forget(&self) {
        for place in self.used() {
            place.store(ptr::null_mut(), SeqCst);
        }
        self.readers.store(0, SeqCst);
    }
}

/// Puts an address into the first place with `old`. Returns its index, if there is one.
fn put(
    places: &[AtomicPtr<AtomicUsize>],
    old: *const AtomicUsize,
    new: *const AtomicUsize,
) -> Option<usize> {
    let (old, new) = (old.cast_mut(), new.cast_mut());
    let mut places = places.iter();
    // Without the first look, each place on the way would move from the caches of other CPUs.
    places.position(|place| {
        place.load(Relaxed) == old && place.compare_exchange(old, new, SeqCst, Relaxed).is_ok()
    })
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn places_are_used_again_and_the_last_one_is_the_end() {
        let words = Words::new();
        let [one, other, more] = [(); 3].map(|()| AtomicUsize::new(current()));
        let add = |word: &AtomicUsize| {
            // SAFETY: the words exist until the end of the test.
            unsafe { words.add(word) }
        };
        assert!(add(&one) && add(&other));
        words.remove(&raw const one);
        assert!(add(&more));
        assert_eq!(words.used().len(), 2);
        words.make_stale();
        let is_stale = |word: &AtomicUsize| word.load(Relaxed) == stale();
        assert!(!is_stale(&one) && is_stale(&other) && is_stale(&more));
        // Only a tick marks what was cleared.
        one.store(0, Relaxed);
        more.store(0, Relaxed);
        words.make_stale();
        assert_eq!(more.load(Relaxed), 0);
        words.make_stale_by_tick();
        assert_eq!(more.load(Relaxed), ticked_after_cleared());
        assert!(is_stale(&other) && one.load(Relaxed) == 0);
        for place in &words.places[2..] {
            place.store((&raw const other).cast_mut(), Relaxed);
        }
        assert!(!add(&one));
    }
}
