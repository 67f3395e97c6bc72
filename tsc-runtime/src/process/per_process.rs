//! What the child of a fork must not share with its parent.

use std::ptr;
use std::sync::atomic::{
    AtomicPtr,
    Ordering::{AcqRel, Acquire},
};

/// A value of which each process has its own.
///
/// Whoever needs it first makes it, and if several do, the first to be done has made it: nobody waits, for in the child of a fork the
/// one to wait for may be missing. The child forgets its parent's, whose locks may be taken for good. None is ever freed.
#[derive(Debug)]
pub(crate) struct PerProcess<T>(AtomicPtr<T>);

impl<T: Default> PerProcess<T> {
    pub(crate) const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// This process's value; `before` is run if it must be made.
    pub(crate) fn get(&'static self, before: impl FnOnce()) -> &'static T {
        let mut value = self.0.load(Acquire);
        if value.is_null() {
            before();
            let fresh = Box::into_raw(Box::default());
            value = match self
                .0
                .compare_exchange(ptr::null_mut(), fresh, AcqRel, Acquire)
            {
                Ok(_) => fresh,
                Err(faster) => {
                    // SAFETY: made from a Box just above, and nobody has seen it.
                    drop(unsafe { Box::from_raw(fresh) });
                    faster
                }
            };
        }
        // SAFETY: made from a Box above, by whichever thread, and never freed.
        unsafe { &*value }
    }

    /// This process's value, if it has been made.
    pub(crate) fn get_if_made(&'static self) -> Option<&'static T> {
        // SAFETY: null, or as in `get`.
        unsafe { self.0.load(Acquire).as_ref() }
    }

    /// In the child of a fork. Allocates nothing: the child may be about to execute another program, and its allocator unusable.
    #[cfg(all(unix, not(miri)))] // elsewhere no process is forked
    pub(crate) fn forget(&self) {
        self.0.swap(ptr::null_mut(), AcqRel);
    }
}
