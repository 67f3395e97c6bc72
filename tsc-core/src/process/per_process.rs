//! Values that the child of a fork does not share with its parent.

use std::ptr;

use crate::sync::atomic::AtomicPtr;
use crate::sync::atomic::Ordering::{AcqRel, Acquire};

/// A value of which each process has its own.
///
/// The first thread that needs the value makes it. If several threads make it at once, the first to finish wins; none waits, because in
/// the child of a fork the other thread may not exist. The child forgets its parent's value, whose locks may never be released. The values
/// are never freed.
#[derive(Debug)]
pub(crate) struct PerProcess<T>(AtomicPtr<T>);

impl<T: Default> PerProcess<T> {
    pub(crate) const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// This process's value.
    pub(crate) fn get(&'static self) -> &'static T {
        let mut value = self.0.load(Acquire);
        if value.is_null() {
            let fresh = Box::into_raw(Box::default());
            let none = ptr::null_mut();
            value = match self.0.compare_exchange(none, fresh, AcqRel, Acquire) {
                Ok(_) => fresh,
                Err(faster) => {
                    // SAFETY: the pointer was made from a Box just above, and no other thread has seen it.
                    drop(unsafe { Box::from_raw(fresh) });
                    faster
                }
            };
        }
        // SAFETY: the pointer was made from a Box above, by some thread, and is never freed.
        unsafe { &*value }
    }

    /// This process's value, if it has been made.
    pub(crate) fn get_if_made(&'static self) -> Option<&'static T> {
        // SAFETY: the pointer is null, or valid as in `get`.
        unsafe { self.0.load(Acquire).as_ref() }
    }

    /// Forgets the value, in the child of a fork. It frees nothing: the child may be about to execute another program, and its allocator
    /// may not be usable.
    #[cfg(all(unix, any(all(test, shuttle), not(miri))))] // no process is forked elsewhere
    pub(crate) fn forget(&self) {
        self.0.swap(ptr::null_mut(), AcqRel);
    }

    /// Puts the parent's value back, in tests that model a fork.
    #[cfg(all(test, shuttle))]
    pub(crate) fn put_back(&self, value: &'static T) {
        self.0.swap(ptr::from_ref(value).cast_mut(), AcqRel);
    }
}
