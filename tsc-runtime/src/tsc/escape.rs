//! What keeps the compiler from moving the measured work out of the measured region.
//!
//! A fence orders instructions; it does not order what LLVM has not emitted yet. Pure work on values that nobody else can see
//! is hoisted above the start, sunk below the stop or deleted, `asm!` or not. An argument whose address reached an `asm!`
//! block before the start, and a result whose address reached one before the stop, cannot be: the block may have read or
//! written them.

/// Lets the compiler assume that `value`, and all that can be reached from it, was read and written here. Costs no instruction
/// but the spill that gives the value an address.
#[inline(always)]
pub fn escape<T: ?Sized>(value: &T) {
    let address = core::ptr::from_ref(value).cast::<()>();
    #[cfg(all(
        any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64"),
        not(miri)
    ))]
    // SAFETY: the template is a comment: no instruction is executed.
    unsafe {
        core::arch::asm!("/* {0} */", in(reg) address, options(nostack, preserves_flags));
    }
    #[cfg(not(all(
        any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64"),
        not(miri)
    )))]
    core::hint::black_box(address);
}

/// Hands `value` through, computed before whatever follows. `#[cycles]` wraps a function's last expression in this.
#[inline(always)]
pub fn result<T>(value: T) -> T {
    escape(&value);
    value
}
