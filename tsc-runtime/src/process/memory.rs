//! Whether memory is left. An allocation that fails ends the process, but a program may run under a limit and handle its own failures.

use std::alloc::{Layout, alloc, dealloc};
use std::hint::black_box;

/// The allocator is asked for at most so much at once: some change their behaviour after larger blocks.
const BLOCK: usize = 1 << 16;

/// Whether so much can be allocated now. Another thread may take it before it is used.
pub(crate) fn is_left(bytes: usize) -> bool {
    can_allocate(bytes.clamp(1, BLOCK)) && (bytes <= BLOCK || can_map(bytes))
}

fn can_allocate(bytes: usize) -> bool {
    let Ok(layout) = Layout::from_size_align(bytes, align_of::<u128>()) else {
        return false;
    };
    // SAFETY: the layout has a size. The block is freed with it.
    unsafe {
        // Otherwise the compiler may leave out both calls.
        let block = black_box(alloc(layout));
        if block.is_null() {
            return false;
        }
        dealloc(block, layout);
    }
    true
}

/// Whether the system gives the allocator so much.
#[cfg(all(unix, not(miri)))]
fn can_map(bytes: usize) -> bool {
    // SAFETY: a new mapping does not overlap with memory in use, and nothing refers to it.
    unsafe {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let pages = libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0);
        pages != libc::MAP_FAILED && libc::munmap(pages, bytes) == 0
    }
}

#[cfg(not(all(unix, not(miri))))]
fn can_map(bytes: usize) -> bool {
    can_allocate(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_system_has_everything() {
        assert!(is_left(0) && is_left(1 << 10) && is_left(1 << 20));
        assert!(!is_left(isize::MAX as usize - 64) && !is_left(usize::MAX));
    }
}
