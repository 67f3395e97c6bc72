//! Whether memory is left. An allocation that fails ends the process, but a program may run under a limit and handle its own failures.
//! Another thread may take the memory before it is used.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr;

#[cfg(all(unix, not(miri)))]
use super::written;

/// The allocator is asked for so much at once. Some behave differently after larger blocks.
const BLOCK: Layout = match Layout::from_size_align(1 << 16, align_of::<Link>()) {
    Ok(layout) => layout,
    Err(_) => panic!("the alignment is a power of two"),
};

/// The beginning of a block: the block before it.
type Link = *mut u8;

/// Whether the allocator has so many bytes, in blocks of 64 KiB.
pub(crate) fn is_left(bytes: usize) -> bool {
    let mut last: Link = ptr::null_mut();
    let mut has_all = true;
    for _ in 0..bytes.div_ceil(BLOCK.size()) {
        // SAFETY: the layout has a size.
        let block = unsafe { alloc(BLOCK) };
        has_all = !block.is_null();
        if !has_all {
            break;
        }
        // SAFETY: the block is new, aligned for a link, and has room for one. Volatile, so that the compiler does not leave it out.
        unsafe { block.cast::<Link>().write_volatile(last) };
        last = block;
    }
    while !last.is_null() {
        // SAFETY: `last` is a block that was allocated above, with a link to another one or to none.
        unsafe {
            let before = last.cast::<Link>().read_volatile();
            dealloc(last, BLOCK);
            last = before;
        }
    }
    has_all
}

/// Whether the system has so many bytes for mappings, such as the stacks of threads.
#[cfg(all(unix, not(miri)))]
pub(crate) fn can_map(bytes: usize) -> bool {
    // SAFETY: a new mapping does not overlap with memory in use, and nothing refers to it.
    unsafe {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let pages = libc::mmap(ptr::null_mut(), bytes, access, kind, -1, 0);
        pages != libc::MAP_FAILED && libc::munmap(pages, bytes) == 0
    }
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

/// Not known here.
#[cfg(not(all(unix, not(miri))))]
pub(crate) fn can_map(_: usize) -> bool {
    true
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
