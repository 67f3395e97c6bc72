//! Keeps the compiler from moving the measured work out of the measured region.
//!
//! A fence orders instructions at run time; it does not keep LLVM from moving code before it emits instructions. LLVM hoists pure work on
//! private values above the start, sinks it below the stop, or deletes it, even if the reads are `asm!` blocks. It cannot do this to work
//! that uses an argument whose address was passed to an `asm!` block before the start, or that computes a result whose address is passed
//! to one before the stop, because the block may read or write these values.

/// Makes the compiler assume that `value`, and everything that can be reached from it, is read and written here. It costs no instruction
/// except the store that gives the value an address.
#[inline(always)]
pub fn escape<T: ?Sized>(value: &T) {
    let address = core::ptr::from_ref(value).cast::<()>();
    #[cfg(all(
        any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64"),
        not(miri)
    ))]
    // SAFETY: the template is a comment, so no instruction is executed.
    unsafe {
        core::arch::asm!("/* {0} */", in(reg) address, options(nostack, preserves_flags));
    }
    #[cfg(not(all(
        any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64"),
        not(miri)
    )))]
    core::hint::black_box(address);
}

/// Returns `value`, and makes the compiler compute it before whatever follows. `#[cycles]` wraps a function's last expression in this.
#[inline(always)]
pub fn result<T>(value: T) -> T {
    escape(&value);
    value
}
