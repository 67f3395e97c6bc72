//! Memory that only some records need, mapped when a call stops. It comes from the operating system and not from the allocator, because
//! the call may have been made by a signal handler that has interrupted the allocator, or by an annotated allocator.

use core::alloc::Layout;
use core::ptr::{self, NonNull};

use crate::process::memory;
use crate::sync::atomic::AtomicPtr;
use crate::sync::atomic::Ordering::{AcqRel, Acquire};

/// A type that is valid if all its bytes are zero.
///
/// # Safety
///
/// The type must be valid if all its bytes are zero.
pub(crate) unsafe trait Zeroed {}

// SAFETY: an array has the bytes of its elements.
unsafe impl<T: Zeroed, const N: usize> Zeroed for [T; N] {}

/// One `T`, mapped when it is first needed, on pages of its own; those that are never used take no memory.
#[derive(Debug)]
pub(crate) struct Pages<T: Zeroed>(AtomicPtr<T>);

impl<T: Zeroed> Pages<T> {
    pub(crate) const fn new() -> Self {
        const { assert!(size_of::<T>() != 0 && align_of::<T>() <= 4096) }
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// The value, which is zero if it was not mapped before. `None` if the system has no more memory.
    pub(crate) fn mapped(&self) -> Option<&T> {
        if self.known().is_none() {
            // SAFETY: `new` has checked that `T` has a size.
            let fresh: NonNull<T> = unsafe { memory::map(Layout::new::<T>()) }?.cast();
            let place = &self.0;
            let exchanged =
                place.compare_exchange(ptr::null_mut(), fresh.as_ptr(), AcqRel, Acquire);
            if exchanged.is_err() {
                // A signal handler has mapped it in the meantime.
                // SAFETY: it was mapped just above, and nobody else has seen it.
                unsafe { memory::unmap(fresh.cast(), Layout::new::<T>()) };
            }
        }
        self.known()
    }

    /// The value, if it was mapped.
    #[inline(always)]
    pub(crate) fn known(&self) -> Option<&T> {
        // SAFETY: null becomes `None`; the rest was mapped by `mapped`, and zeros are a value. Only `drop` unmaps it.
        unsafe { self.0.load(Acquire).as_ref() }
    }
}

impl<T: Zeroed> Drop for Pages<T> {
    fn drop(&mut self) {
        if let Some(pages) = NonNull::new(*self.0.get_mut()) {
            // SAFETY: `mapped` made it, and no reference to it outlives its owner.
            unsafe {
                pages.drop_in_place();
                memory::unmap(pages.cast(), Layout::new::<T>());
            }
        }
    }
}
