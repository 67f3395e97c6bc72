//! Memory from the system, and whether some is left. An allocation that fails ends the process, but a program may run under a limit and
//! handle its own failures. Another thread may take the memory before it is used.

use std::alloc::Layout;
use std::hint::black_box;
use std::ptr::NonNull;

#[cfg(all(unix, not(miri)))]
use super::written;

/// The allocator is asked for so much at once. Some behave differently after larger blocks.
const BLOCK: usize = 1 << 16;

/// Whether the allocator has so many bytes, in blocks of 64 KiB.
pub(crate) fn is_left(bytes: usize) -> bool {
    let count = bytes.div_ceil(BLOCK);
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    if blocks.try_reserve_exact(count).is_err() {
        return false;
    }
    (0..count).all(|_| {
        let mut block = Vec::new();
        let is_left = block.try_reserve_exact(BLOCK).is_ok();
        // So that the compiler does not leave the allocation out.
        blocks.push(black_box(block));
        is_left
    })
}

/// Whether the system has so many bytes for mappings, such as the stacks of threads. Not known on systems other than Unix.
pub(crate) fn can_map(bytes: usize) -> bool {
    let has_room = |layout: Layout| {
        // SAFETY: callers ask for some bytes, to which nothing refers.
        unsafe { map(layout).map(|pages| unmap(pages, layout)).is_some() }
    };
    cfg!(not(all(unix, not(miri)))) || Layout::from_size_align(bytes, 1).is_ok_and(has_room)
}

/// Zeros on pages of their own. On Unix they do not come from the allocator, so this may be called in a signal handler.
///
/// # Safety
///
/// The layout has a size, and is not aligned to more than a page.
#[cfg(all(unix, not(miri)))]
pub(crate) unsafe fn map(layout: Layout) -> Option<NonNull<u8>> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let _errno = super::Errno::save();
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping does not overlap with memory in use.
    let pages = unsafe { libc::mmap(std::ptr::null_mut(), layout.size(), access, kind, -1, 0) };
    NonNull::new(pages.cast()).filter(|_| pages != libc::MAP_FAILED)
}

/// # Safety
///
/// [`map`] has made the pages with this layout, and nothing refers to them any more.
#[cfg(all(unix, not(miri)))]
pub(crate) unsafe fn unmap(pages: NonNull<u8>, layout: Layout) {
    // SAFETY: as above.
    unsafe { libc::munmap(pages.as_ptr().cast(), layout.size()) };
}

/// On systems on which no signal interrupts a thread.
#[cfg(not(all(unix, not(miri))))]
pub(crate) unsafe fn map(layout: Layout) -> Option<NonNull<u8>> {
    // SAFETY: the caller says that the layout has a size.
    NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) })
}

#[cfg(not(all(unix, not(miri))))]
pub(crate) unsafe fn unmap(pages: NonNull<u8>, layout: Layout) {
    // SAFETY: the caller says that `map` made it with this layout.
    unsafe { std::alloc::dealloc(pages.as_ptr(), layout) };
}

/// Whether the process may only have so much memory.
#[cfg(all(unix, not(miri)))]
pub(crate) fn is_limited() -> bool {
    // SAFETY: the call writes one limit to the given address, if it returns 0.
    let limit = unsafe { written(|limit| libc::getrlimit(libc::RLIMIT_AS, limit)) };
    limit.is_some_and(|limit: libc::rlimit| limit.rlim_cur != libc::RLIM_INFINITY)
}

/// Not known here.
#[cfg(not(all(unix, not(miri))))]
pub(crate) fn is_limited() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_some_but_not_everything() {
        assert!(is_left(0) && is_left(1 << 10) && is_left(1 << 20) && can_map(1 << 20));
        assert!(!can_map(isize::MAX as usize) || cfg!(not(all(unix, not(miri)))));
    }
}
