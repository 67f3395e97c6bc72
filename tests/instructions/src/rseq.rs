//! Replaces glibc's registration of rseq, which valgrind hides from the program.
//!
//! Without a registration, every call would take the path for systems that do not detect interruptions, which is not the path to guard.
//! The kernel does not know the word here and never clears it, so no call is ever interrupted.

use std::arch::asm;
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, AtomicU32, Ordering::Relaxed};

#[allow(non_upper_case_globals)]
#[unsafe(no_mangle)]
#[used]
static __rseq_offset: AtomicIsize = AtomicIsize::new(0);

#[allow(non_upper_case_globals)]
#[unsafe(no_mangle)]
#[used]
static __rseq_size: AtomicU32 = AtomicU32::new(0);

/// As large as the kernel's `struct rseq`, and aligned as it.
#[repr(align(32))]
struct Area(#[expect(dead_code, reason = "used by address")] Cell<[u64; 4]>);

thread_local! {
    static AREA: Area = const { Area(Cell::new([0; 4])) };
}

/// Makes this thread, and no other, have the word. Before the first annotated call.
pub(crate) fn register() {
    let thread_pointer: isize;
    // SAFETY: on x86-64 Linux the word at fs:0 is the thread pointer itself.
    unsafe {
        asm!("mov {}, fs:0", out(reg) thread_pointer, options(nostack, preserves_flags, readonly))
    };
    let area = AREA.with(|area| (&raw const *area).addr().cast_signed());
    __rseq_offset.store(area - thread_pointer, Relaxed);
    __rseq_size.store(size_of::<Area>() as u32, Relaxed);
}
