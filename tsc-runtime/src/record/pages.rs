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

/// What `place` points to. If it is null, zeroed memory is mapped first, on pages of its own; those that are never used take no memory.
/// `None` if the system has no more.
pub(crate) fn mapped<T: Zeroed>(place: &AtomicPtr<T>) -> Option<&T> {
    const {
        assert!(size_of::<T>() != 0 && align_of::<T>() <= 4096);
    }
    let mut known = place.load(Acquire);
    if known.is_null() {
        let fresh = memory::map::<T>()?;
        known = match place.compare_exchange(known, fresh.as_ptr(), AcqRel, Acquire) {
            Ok(_) => fresh.as_ptr(),
            // A signal handler has mapped it in the meantime.
            Err(faster) => {
                memory::unmap(fresh);
                faster
            }
        };
    }
    // SAFETY: this function mapped it, and zeros are a value. Only `unmap` unmaps it, which needs the place for itself.
    Some(unsafe { &*known })
}

/// What `place` points to, if it was mapped.
pub(crate) fn known<T: Zeroed>(place: &AtomicPtr<T>) -> Option<&T> {
    // SAFETY: as in `mapped`; null becomes `None`.
    unsafe { place.load(Acquire).as_ref() }
}

/// Drops and unmaps what `place` points to, if it was mapped.
pub(crate) fn unmap<T: Zeroed>(place: &mut AtomicPtr<T>) {
    let pages = core::mem::replace(place.get_mut(), ptr::null_mut());
    if let Some(pages) = NonNull::new(pages) {
        // SAFETY: `mapped` made it, and no reference to it outlives the borrow of its place.
        unsafe { pages.drop_in_place() };
        memory::unmap(pages);
    }
}
