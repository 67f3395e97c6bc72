//! Functions that begin at the start of a page.

/// Places a function at the start of a page, so that its cost does not depend on the address that the linker happens to choose.
///
/// ```
/// mod on_a_page {
///     tsc_runtime::aligned! {
///         pub fn twice(x: u64) -> u64 {
///             2 * x
///         }
///     }
/// }
/// assert_eq!(on_a_page::twice(21), 42);
/// ```
///
/// The function gets a section of its own, with an alignment of 4096 bytes. It is never inlined. It must not be generic, and it must be in
/// a module, not in the body of a function. On systems other than Linux, and on architectures other than x86-64, x86 and AArch64, it is not
/// aligned. `RUSTFLAGS="-C llvm-args=-align-all-functions=12"` aligns every function of a build.
#[macro_export]
macro_rules! aligned {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident($($arguments:tt)*) $(-> $result:ty)? $body:block) => {
        #[cfg(all(
            target_os = "linux",
            any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64"),
            not(miri)
        ))]
        ::core::arch::global_asm!(
            concat!(".pushsection .text.tsc_aligned_", stringify!($name), ",\"ax\",@progbits"),
            ".p2align 12",
            ".popsection",
        );

        $(#[$attribute])*
        #[inline(never)]
        #[cfg_attr(
            all(
                target_os = "linux",
                any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64"),
                not(miri)
            ),
            unsafe(link_section = concat!(".text.tsc_aligned_", stringify!($name)))
        )]
        $visibility fn $name($($arguments)*) $(-> $result)? $body
    };
}

#[cfg(test)]
mod tests {
    aligned! {
        fn on_a_page(x: u64) -> u64 {
            x.rotate_left(7) ^ 0x5555
        }
    }

    #[test]
    #[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
    fn function_begins_on_a_page() {
        assert_eq!((on_a_page as fn(u64) -> u64 as usize) % 4096, 0);
        assert_eq!(on_a_page(0), 0x5555);
    }
}
