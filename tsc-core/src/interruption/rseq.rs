//! Finds this thread's `rseq_cs`, and contains the descriptor that is armed there.

use std::arch::asm;
use std::sync::atomic::{AtomicIsize, AtomicU64, AtomicUsize, Ordering};

#[cfg(not(target_env = "gnu"))]
#[path = "own_rseq.rs"]
mod own;

/// `struct rseq_cs` of the kernel's ABI. [`complete_descriptors`] fills in the addresses before the first arming.
#[derive(Debug)]
#[repr(C, align(32))]
pub(crate) struct Descriptor {
    /// Version 0 in the low half, no flags in the high half.
    version_and_flags: u64,
    start: AtomicU64,
    /// 0: the sequence is empty, so no thread is ever inside it.
    length: u64,
    abort: AtomicU64,
}

/// The first one is armed by timed probes, the second one by light ones, and the third one by the clock of light probes.
pub(super) static DESCRIPTORS: [Descriptor; 3] = [const {
    Descriptor {
        version_and_flags: 0,
        start: AtomicU64::new(0),
        length: 0,
        abort: AtomicU64::new(0),
    }
}; 3];

/// The offset of `rseq_cs` in `struct rseq`, and how many bytes a registration must cover to contain it.
const RSEQ_CS_OFFSET: isize = 8;
const RSEQ_CS_END: u32 = 16;

/// The offset of the word from the thread pointer. 0 until it has been looked up.
static WORD_OFFSET: AtomicIsize = AtomicIsize::new(0);

/// Finds this thread's `rseq_cs`, and registers one if the C library does not.
pub(super) fn attach() -> Result<*const AtomicUsize, &'static str> {
    complete_descriptors();
    match c_library_word() {
        #[cfg(not(target_env = "gnu"))]
        Err(NO_SYMBOLS) => own::register(),
        found => found,
    }
}

/// Removes the registration that [`attach`] has made, because the thread ends. The word is not armed.
pub(super) fn detach() {
    #[cfg(not(target_env = "gnu"))]
    if c_library_word() == Err(NO_SYMBOLS) {
        own::unregister();
    }
}

/// Why this thread has no `rseq_cs` and cannot get one, if so.
pub(super) fn unavailable() -> Option<&'static str> {
    match c_library_word() {
        #[cfg(not(target_env = "gnu"))]
        Err(NO_SYMBOLS) => own::unavailable(),
        found => found.err(),
    }
}

fn complete_descriptors() {
    // The last one is completed last.
    let [.., last] = &DESCRIPTORS;
    if last.abort.load(Ordering::Acquire) != 0 {
        return;
    }
    for descriptor in &DESCRIPTORS {
        descriptor.start.store(abort_address(), Ordering::Relaxed);
        descriptor.abort.store(abort_address(), Ordering::Release);
    }
}

const NO_SYMBOLS: &str = "the C library registers no rseq (glibc 2.35 or later does)";

/// The address of this thread's word, if the C library has registered it.
fn c_library_word() -> Result<*const AtomicUsize, &'static str> {
    let mut offset = WORD_OFFSET.load(Ordering::Acquire);
    if offset == 0 {
        offset = look_up_offset()?;
        WORD_OFFSET.store(offset, Ordering::Release);
    }
    Ok(thread_pointer().wrapping_offset(offset).cast())
}

/// The word at fs:0, or at gs:0 of a process of 32 bits, is the thread pointer (System V ABI, variant II of TLS).
#[inline(always)]
fn thread_pointer() -> *mut u8 {
    let pointer;
    // SAFETY: on x86 Linux, every thread has this word.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!("mov {}, fs:0", out(reg) pointer, options(nostack, preserves_flags, readonly, pure));
        #[cfg(target_arch = "x86")]
        asm!("mov {}, gs:0", out(reg) pointer, options(nostack, preserves_flags, readonly, pure));
    }
    pointer
}

fn look_up_offset() -> Result<isize, &'static str> {
    let (offset, size) = symbols();
    if offset.is_null() || size.is_null() {
        return Err(NO_SYMBOLS);
    }
    // SAFETY: glibc defines `const ptrdiff_t __rseq_offset` and `const unsigned int __rseq_size`.
    let (offset, size) = unsafe { (offset.read(), size.read()) };
    // The size is 0 if the kernel has no rseq, with GLIBC_TUNABLES=glibc.pthread.rseq=0, or if another library made the registration.
    if size < RSEQ_CS_END {
        return Err(
            "glibc did not register rseq (GLIBC_TUNABLES=glibc.pthread.rseq=0, an old kernel, or another owner)",
        );
    }
    Ok(offset + RSEQ_CS_OFFSET)
}

/// The addresses of glibc's `__rseq_offset` and `__rseq_size`. Null if they do not exist.
#[cfg(not(all(target_env = "gnu", target_feature = "crt-static")))]
fn symbols() -> (*const isize, *const u32) {
    // SAFETY: the names are C strings. The result is null for a symbol that does not exist.
    unsafe {
        (
            libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr()).cast(),
            libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_size".as_ptr()).cast(),
        )
    }
}

/// A static program has no symbol names at run time, so the linker resolves them. The references are weak, because an older glibc does not
/// define the symbols. Both instructions load from the global offset table, which a program of 32 bits finds by its own position.
#[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
fn symbols() -> (*const isize, *const u32) {
    let (offset, size);
    // SAFETY: this only takes addresses, which the linker has filled in: 0 for a symbol that does not exist.
    unsafe {
        #[cfg(target_arch = "x86")]
        asm!(
            ".weak __rseq_offset",
            ".weak __rseq_size",
            "call 2f",
            "2: pop {size}",
            "add $(_GLOBAL_OFFSET_TABLE_ + (. - 2b)), {size}",
            "mov __rseq_offset@GOT({size}), {offset}",
            "mov __rseq_size@GOT({size}), {size}",
            offset = out(reg) offset,
            size = out(reg) size,
            options(att_syntax),
        );
        #[cfg(target_arch = "x86_64")]
        asm!(
            ".weak __rseq_offset",
            ".weak __rseq_size",
            "mov {}, qword ptr [rip + __rseq_offset@GOTPCREL]",
            "mov {}, qword ptr [rip + __rseq_size@GOTPCREL]",
            out(reg) offset,
            out(reg) size,
            options(nostack, preserves_flags),
        );
    }
    (offset, size)
}

/// The abort handler's address. The kernel never jumps there, but it checks that the four bytes before it are the signature that glibc
/// registered, 0x53053053. Here they are the operand of a `ud1` instruction, so that an attacker cannot use the bytes as code.
#[inline(never)]
fn abort_address() -> u64 {
    let address: usize;
    // SAFETY: this only takes an address. The handler's code is never executed: it is in a section of its own, or jumped over.
    unsafe {
        // A program of 32 bits finds its own position by a call.
        #[cfg(target_arch = "x86")]
        asm!(
            "jmp 3f",
            ".byte 0x0f, 0xb9, 0x3d",
            ".long 0x53053053",
            "2:",
            "ud2",
            "3:",
            "call 4f",
            "4: pop {address}",
            "sub $(4b - 2b), {address}",
            address = out(reg) address,
            options(att_syntax),
        );
        #[cfg(target_arch = "x86_64")]
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
    address as u64
}
