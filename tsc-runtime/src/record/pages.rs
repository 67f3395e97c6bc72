//! Memory for what only some records need, found when a call stops. It comes from the system and not from the allocator: the call may
//! have been made by a signal handler that has interrupted the allocator, or by an annotated allocator itself.

use core::ptr::NonNull;

/// Something that is valid when all its bytes are zero.
///
/// # Safety
///
/// It is, and it has no destructor.
pub(super) unsafe trait Zeroed {}

#[cfg(all(unix, not(miri)))]
mod memory {
    use core::ffi::c_void;
    use core::ptr::{self, NonNull};

    pub(super) fn map<T>() -> Option<NonNull<T>> {
        // SAFETY: a fresh mapping touches no memory that is in use.
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
        // SAFETY: made by `map`, and nobody refers to it any more.
        unsafe { libc::munmap(pages, size_of::<T>()) };
    }
}

/// Elsewhere no signal interrupts a thread.
#[cfg(not(all(unix, not(miri))))]
mod memory {
    use core::ptr::NonNull;
    use std::alloc::{Layout, alloc_zeroed, dealloc};

    pub(super) fn map<T>() -> Option<NonNull<T>> {
        // SAFETY: nothing that is mapped has no size.
        NonNull::new(unsafe { alloc_zeroed(Layout::new::<T>()) }.cast())
    }

    pub(super) fn unmap<T>(pages: NonNull<T>) {
        // SAFETY: made by `map` with this layout.
        unsafe { dealloc(pages.as_ptr().cast(), Layout::new::<T>()) };
    }
}

/// Zeros, on pages of their own; `None` if the system has no more. What is never touched takes no memory.
pub(super) fn map<T: Zeroed>() -> Option<NonNull<T>> {
    const {
        assert!(size_of::<T>() != 0 && align_of::<T>() <= 4096);
    }
    memory::map()
}

/// Gives them back.
///
/// # Safety
///
/// [`map`] made them, and nobody refers to them any more.
pub(super) unsafe fn unmap<T: Zeroed>(pages: NonNull<T>) {
    memory::unmap(pages);
}
