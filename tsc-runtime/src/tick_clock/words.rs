//! The words of the threads that have light probes, each of which other threads can make stale: then the thread's next light probe takes the cold
//! path.
//!
//! # Why no tick is lost
//!
//! Whoever has news writes it down first, then makes the word stale; the thread arms its word first, then reads the news. Between the two steps,
//! both have a fence that orders all of them. So if the thread does not read the news, it has armed the word before, and the word is made stale
//! after that. The kernel may clear the word at any time. A word that is cleared stays so until the thread arms it, so that its thread also
//! learns that it was interrupted.

use crate::interruption::{current, stale};
use crate::process::PerProcess;
use crate::sync::Mutex;
use crate::sync::atomic::{
    AtomicUsize,
    Ordering::{Relaxed, SeqCst},
    fence,
};

/// Makes a word stale, unless it is so or was cleared.
pub(crate) fn make_stale(word: &AtomicUsize) {
    // Without the first look, the words of threads that sleep would move from their caches at every tick.
    if word.load(Relaxed) == current() {
        let _ = word.compare_exchange(current(), stale(), SeqCst, Relaxed);
    }
}

/// A thread's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word(*const AtomicUsize);

// SAFETY: the word is an atomic, which exists as long as it is in the list.
unsafe impl Send for Word {}

/// The words of all threads that follow a clock. In the child of a fork there are none.
#[derive(Debug)]
pub(crate) struct Words(PerProcess<Mutex<Vec<Word>>>);

impl Words {
    pub(super) const fn new() -> Self {
        Self(PerProcess::new())
    }

    /// Adds a word. Returns false if the system has no memory.
    ///
    /// # Safety
    ///
    /// The word exists until it is removed.
    pub(crate) unsafe fn add(&'static self, word: *const AtomicUsize) -> bool {
        let mut words = self.0.get(|| {}).lock();
        let has_room = words.try_reserve(1).is_ok();
        if has_room {
            words.push(Word(word));
        }
        has_room
    }

    /// Replaces a word of the list.
    ///
    /// # Safety
    ///
    /// As for [`add`](Self::add).
    pub(crate) unsafe fn replace(&'static self, old: *const AtomicUsize, new: *const AtomicUsize) {
        let mut words = self.0.get(|| {}).lock();
        if let Some(known) = words.iter_mut().find(|known| **known == Word(old)) {
            *known = Word(new);
        }
    }

    /// Removes a word, if it is there.
    pub(crate) fn remove(&'static self, word: *const AtomicUsize) {
        if let Some(words) = self.0.get_if_made() {
            words.lock().retain(|known| *known != Word(word));
        }
    }

    /// Makes all words stale: the next light probe of every thread takes the cold path.
    pub(crate) fn make_stale(&'static self) {
        fence(SeqCst);
        if let Some(words) = self.0.get_if_made() {
            for Word(word) in words.lock().iter() {
                // SAFETY: it is in the list, so it exists.
                make_stale(unsafe { &**word });
            }
        }
    }

    /// Forgets the words of the parent, in the child of a fork.
    #[cfg(all(unix, any(all(test, shuttle), not(miri))))] // no process is forked elsewhere
    pub(crate) fn forget(&self) {
        self.0.forget();
    }
}
