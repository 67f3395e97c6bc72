//! Keeps the compiler from moving the measured work out of the measured region.
//!
//! A fence orders instructions at run time; it does not keep LLVM from moving code before it emits instructions. LLVM sinks pure work on private
//! values below the stop, or deletes it, even if the reads are `asm!` blocks. It cannot do this to work that computes a result which is passed to
//! an `asm!` block before the stop, or whose address is, because the block may read the result.
//!
//! In a caller, LLVM would also hoist work above the start, out of a loop. A function with a timed probe is not inlined, so there is nothing
//! above its start. What is measured in place, as a block is, can have its inputs' addresses passed to an `asm!` block before the start: the block
//! may write them. Every store through a pointer may write them afterwards, too, for all that LLVM knows. So a loop over slices that were passed on
//! like this computes with numbers one by one that it had in vectors.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// Makes the compiler assume that the register with the given value is read here, and all memory that has been given away read and written.
#[cfg(all(any(target_arch = "x86_64", target_arch = "x86"), not(miri)))]
macro_rules! use_register {
    (u8, $part:expr) => {
        core::arch::asm!("/* {0} */", in(reg_byte) $part, options(nostack, preserves_flags))
    };
    ($wider:ident, $part:expr) => {
        core::arch::asm!("/* {0} */", in(reg) $part, options(nostack, preserves_flags))
    };
}
#[cfg(all(target_arch = "aarch64", not(miri)))]
macro_rules! use_register {
    ($type:ident, $part:expr) => {
        core::arch::asm!("/* {0} */", in(reg) $part, options(nostack, preserves_flags))
    };
}
#[cfg(any(
    miri,
    not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64"))
))]
macro_rules! use_register {
    ($type:ident, $part:expr) => {{
        core::hint::black_box($part);
    }};
}

/// Makes the compiler assume that `value`, and everything that can be reached from it, is read and written here. It costs no instruction
/// except the store that gives the value an address.
#[inline(always)]
#[allow(unused_unsafe)] // where there is no template
pub fn escape<T: ?Sized>(value: &T) {
    let address = core::ptr::from_ref(value).cast::<()>();
    // SAFETY: the template is a comment, so no instruction is executed.
    unsafe {
        use_register!(usize, address);
    }
}

/// Returns `value`, and makes the compiler compute it before whatever follows. `#[cycles]` wraps a function's last expression in this.
///
/// A result of a few parts is read part by part. If its address were passed on, the compiler would have to build the result in memory of its
/// own and copy it to where the caller wants it. Copying what was just written stalls, because each load covers several stores.
#[inline(always)]
pub fn result<T>(value: T) -> T {
    if const { Parts::<T>::COUNT <= 8 } {
        use_part::<T, 0>(&value);
        use_part::<T, 1>(&value);
        use_part::<T, 2>(&value);
        use_part::<T, 3>(&value);
        use_part::<T, 4>(&value);
        use_part::<T, 5>(&value);
        use_part::<T, 6>(&value);
        use_part::<T, 7>(&value);
    } else {
        escape(&value);
    }
    value
}

/// The equal parts of a `T`, each of which fits into a register.
struct Parts<T>(PhantomData<T>);

impl<T> Parts<T> {
    /// Fields that are aligned like this are kept in registers of their own.
    const SIZE: usize = if align_of::<T>() < size_of::<usize>() {
        align_of::<T>()
    } else {
        size_of::<usize>()
    };
    const COUNT: usize = size_of::<T>() / Self::SIZE;
}

/// Makes the compiler assume that part `INDEX` of `value`, if there is one, is read here. It costs at most a load.
#[inline(always)]
#[allow(asm_sub_register)] // the template only names the register
fn use_part<T, const INDEX: usize>(value: &T) {
    if const { INDEX < Parts::<T>::COUNT } {
        let address = core::ptr::from_ref(value);
        // SAFETY: the part lies within the value and is aligned. It may be uninitialised. The templates are comments, so no instruction is
        // executed.
        unsafe {
            match const { Parts::<T>::SIZE } {
                1 => use_register!(u8, address.cast::<MaybeUninit<u8>>().add(INDEX).read()),
                2 => use_register!(u16, address.cast::<MaybeUninit<u16>>().add(INDEX).read()),
                4 => use_register!(u32, address.cast::<MaybeUninit<u32>>().add(INDEX).read()),
                _ => use_register!(
                    usize,
                    address.cast::<MaybeUninit<usize>>().add(INDEX).read()
                ),
            }
        }
    }
}
