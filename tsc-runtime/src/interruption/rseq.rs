//! Where glibc put this thread's `rseq_cs`, and the descriptor that is armed there.

use std::arch::asm;
use std::sync::atomic::{AtomicIsize, AtomicU64, Ordering};

/// `struct rseq_cs` of the kernel's ABI. The addresses are filled in by [`word`], before the first arming.
#[repr(C, align(32))]
struct Descriptor {
    /// Version 0 in the low half, no flags in the high half.
    version_and_flags: u64,
    start: AtomicU64,
    /// 0: the sequence is empty, so no thread is ever inside it.
    length: u64,
    abort: AtomicU64,
}

static DESCRIPTOR: Descriptor = Descriptor {
    version_and_flags: 0,
    start: AtomicU64::new(0),
    length: 0,
    abort: AtomicU64::new(0),
};

/// Offset of `rseq_cs` in `struct rseq`, and how many bytes a registration must cover to hold it.
const RSEQ_CS_OFFSET: isize = 8;
const RSEQ_CS_END: u32 = 16;

/// Offset of the word from the thread pointer; 0 until looked up.
static WORD_OFFSET: AtomicIsize = AtomicIsize::new(0);

/// The value that an armed word has.
#[inline(always)]
pub(super) fn descriptor() -> u64 {
    (&raw const DESCRIPTOR).addr() as u64
}

/// This thread's `rseq_cs`.
pub(super) fn word() -> Result<*mut u64, &'static str> {
    let mut offset = WORD_OFFSET.load(Ordering::Acquire);
    if offset == 0 {
        offset = look_up_offset()?;
        DESCRIPTOR.start.store(abort_address(), Ordering::Relaxed);
        DESCRIPTOR.abort.store(abort_address(), Ordering::Relaxed);
        WORD_OFFSET.store(offset, Ordering::Release);
    }
    let thread_pointer: *mut u8;
    // SAFETY: on x86-64 Linux the word at fs:0 is the thread pointer itself (System V ABI, variant II of TLS).
    unsafe {
        asm!("mov {}, fs:0", out(reg) thread_pointer, options(nostack, preserves_flags, readonly, pure));
    }
    Ok(thread_pointer.wrapping_offset(offset).cast())
}

fn look_up_offset() -> Result<isize, &'static str> {
    // SAFETY: the names are C strings; a symbol that does not exist gives null.
    let (offset, size) = unsafe {
        (
            libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr()).cast::<isize>(),
            libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_size".as_ptr()).cast::<u32>(),
        )
    };
    if offset.is_null() || size.is_null() {
        return Err("the C library registers no rseq (glibc 2.35 or later does)");
    }
    // SAFETY: glibc defines `const ptrdiff_t __rseq_offset` and `const unsigned int __rseq_size`.
    let (offset, size) = unsafe { (offset.read(), size.read()) };
    // A kernel without rseq, GLIBC_TUNABLES=glibc.pthread.rseq=0, or a registration made by somebody else: size 0.
    if size < RSEQ_CS_END {
        return Err(
            "glibc did not register rseq (GLIBC_TUNABLES=glibc.pthread.rseq=0, an old kernel, or another owner)",
        );
    }
    Ok(offset + RSEQ_CS_OFFSET)
}

/// The abort handler's address. The kernel never jumps there, but it does check that the four bytes before it are the
/// signature that glibc registered, 0x53053053: here the operand of a `ud1`, so that the bytes are no gadget.
#[inline(never)]
fn abort_address() -> u64 {
    let address: u64;
    // SAFETY: only takes an address; the handler's code is put in a section of its own and never executed.
    unsafe {
        asm!(
            ".pushsection .text.tsc_rseq_abort,\"ax\",@progbits",
            ".byte 0x0f, 0xb9, 0x3d",
            ".long 0x53053053",
            "2:",
            "ud2",
            ".popsection",
            "lea {}, [rip + 2b]",
            out(reg) address,
            options(nostack, preserves_flags),
        );
    }
    address
}
