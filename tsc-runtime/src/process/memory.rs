//! Whether memory is left. An allocation that fails ends the process, but a program may run under a limit and handle its own failures.
//! Another thread may take the memory before it is used.

use std::hint::black_box;
#[cfg(all(unix, not(miri)))]
use std::ptr;

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
