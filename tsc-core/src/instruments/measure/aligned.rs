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
/// a module, not in the body of a function.
///
/// On Apple's systems and WebAssembly this cannot be done, and a compile error says so. There,
/// `RUSTFLAGS="-C llvm-args=-align-all-functions=12"` aligns every function of a build. Under Miri, functions have no addresses to align.
#[macro_export]
macro_rules! aligned {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident($($arguments:tt)*) $(-> $result:ty)? $body:block) => {
        #[cfg(not(any(unix, windows, miri)))]
        ::core::compile_error!("`aligned!` cannot align functions on this system");
        #[cfg(all(target_vendor = "apple", not(miri)))]
        ::core::compile_error!(
            "`aligned!` cannot align functions on Apple's systems; `-C llvm-args=-align-all-functions=12` aligns all of a build"
        );

        #[cfg(all(unix, not(target_vendor = "apple"), not(miri)))]
        ::core::arch::global_asm!(
            concat!(".pushsection .text.tsc_aligned_", stringify!($name), "_", line!(), ",\"ax\",%progbits"),
            ".p2align 12",
            ".popsection",
        );
        #[cfg(all(windows, not(miri)))]
        ::core::arch::global_asm!(
            concat!(".section .text$tsc_aligned_", stringify!($name), "_", line!(), ",\"xr\""),
            ".p2align 12",
            ".text",
        );

        $(#[$attribute])*
        #[inline(never)]
        #[cfg_attr(
            all(unix, not(target_vendor = "apple"), not(miri)),
            unsafe(link_section = concat!(".text.tsc_aligned_", stringify!($name), "_", line!()))
        )]
        #[cfg_attr(
            all(windows, not(miri)),
            unsafe(link_section = concat!(".text$tsc_aligned_", stringify!($name), "_", line!()))
        )]
        $visibility fn $name($($arguments)*) $(-> $result)? $body
    };
}

#[cfg(all(test, any(unix, windows), not(target_vendor = "apple")))]
mod tests {
    aligned! {
        fn on_a_page(x: u64) -> u64 {
            x.rotate_left(7) ^ 0x5555
        }
    }

    #[test]
    fn function_begins_on_a_page() {
        #[cfg(not(miri))]
        assert_eq!((on_a_page as fn(u64) -> u64 as usize) % 4096, 0);
        assert_eq!(on_a_page(0), 0x5555);
    }
}
