//! Memory that only some records need, mapped when a call stops. It comes from the operating system and not from the allocator, because
//! the call may have been made by a signal handler that has interrupted the allocator, or by an annotated allocator.

use core::ptr::{self, NonNull};

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

#[cfg(all(unix, not(miri)))]
mod memory {
    use core::ffi::c_void;
    use core::ptr::{self, NonNull};

    pub(super) fn map<T>() -> Option<NonNull<T>> {
        // SAFETY: a new mapping does not overlap with memory in use.
        let pages = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size_of::<T>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        NonNull::new(pages.cast()).filter(|_| pages != libc::MAP_FAILED)
    }

    pub(super) fn unmap<T>(pages: NonNull<T>) {
        let pages: *mut c_void = pages.as_ptr().cast();
        // SAFETY: `map` made it, and nothing refers to it any more.
        unsafe { libc::munmap(pages, size_of::<T>()) };
    }
}

/// Systems on which no signal interrupts a thread.
#[cfg(not(all(unix, not(miri))))]
mod memory {
    use core::ptr::NonNull;
    use std::alloc::{Layout, alloc_zeroed, dealloc};

    pub(super) fn map<T>() -> Option<NonNull<T>> {
        // SAFETY: `map` is only called for types that have a size.
        NonNull::new(unsafe { alloc_zeroed(Layout::new::<T>()) }.cast())
    }

    pub(super) fn unmap<T>(pages: NonNull<T>) {
        // SAFETY: `map` made it with this layout.
        unsafe { dealloc(pages.as_ptr().cast(), Layout::new::<T>()) };
    }
}

/// One `T`, mapped when it is first needed, on pages of its own; those that are never used take no memory.
#[derive(Debug)]
pub(crate) struct Pages<T: Zeroed>(AtomicPtr<T>);

impl<T: Zeroed> Pages<T> {
    pub(crate) const fn new() -> Self {
        const {
            assert!(size_of::<T>() != 0 && align_of::<T>() <= 4096);
        }
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// The value, which is zero if it was not mapped before. `None` if the system has no more memory.
    pub(crate) fn mapped(&self) -> Option<&T> {
        if self.known().is_none() {
            let fresh = memory::map::<T>()?;
            let place = &self.0;
            let exchanged =
                place.compare_exchange(ptr::null_mut(), fresh.as_ptr(), AcqRel, Acquire);
            if exchanged.is_err() {
                // A signal handler has mapped it in the meantime.
                memory::unmap(fresh);
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
            unsafe { pages.drop_in_place() };
            memory::unmap(pages);
        }
    }
}
