//! Memory that only some records need, mapped when a call stops. It comes from the operating system and not from the allocator, because
//! the call may have been made by a signal handler that has interrupted the allocator, or by an annotated allocator.

use core::ptr::NonNull;

/// A type that is valid if all its bytes are zero.
///
/// # Safety
///
/// The type must be valid if all its bytes are zero, and must have no destructor.
pub(crate) unsafe trait Zeroed {}

// SAFETY: an array has the bytes of its elements, and a destructor only if they have one.
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

/// Zeroed memory on pages of its own. `None` if the system has no more. Pages that are never used take no memory.
pub(crate) fn map<T: Zeroed>() -> Option<NonNull<T>> {
    const {
        assert!(size_of::<T>() != 0 && align_of::<T>() <= 4096);
    }
    memory::map()
}

/// Unmaps the memory.
///
/// # Safety
///
/// [`map`] must have returned it, and nothing may refer to it any more.
pub(crate) unsafe fn unmap<T: Zeroed>(pages: NonNull<T>) {
    memory::unmap(pages);
}
