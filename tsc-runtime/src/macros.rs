//! The macros that measure less than a function. They follow the same gate as the attribute.

/// Measures a block under the name it is given, and has its value.
///
/// `?`, `return`, `break` and `continue` leave the block as they would without; each way out is recorded. The names in brackets are
/// inputs that the compiler must not compute with ahead of the block; a block that only calls functions needs none.
///
/// ```
/// use tsc_runtime::cycles_block;
///
/// fn longest(words: &[&str]) -> Option<usize> {
///     let longest = cycles_block!("scan", [words], { words.iter().map(|word| word.len()).max()? });
///     cycles_block!("check", fence = "none", { assert!(longest < 100) });
///     Some(longest)
/// }
/// assert_eq!(longest(&["a", "abc"]), Some(3));
/// ```
#[macro_export]
macro_rules! cycles_block {
    ($name:literal, $([$($input:expr),* $(,)?],)? $body:block $(,)?) => {
        $crate::cycles_block!($name, fence = "lfence", $([$($input),*],)? $body)
    };
    ($name:literal, fence = $fence:tt, $([$($input:expr),* $(,)?],)? $body:block $(,)?) => {
        $crate::__gate!({
            let mut slot = $crate::__private::Slot::new();
            let _probe = {
                $($($crate::__private::escape(&$input);)*)?
                $crate::__private::Probe::<$crate::__policy!($fence)>::start(
                    $crate::__callsite!($name, $fence),
                    &mut slot,
                )
            };
            #[allow(unreachable_code)] // the block may leave for good
            {
                $crate::__private::result({ $body })
            }
        } else $body)
    };
}

/// GCLK itself: runs a statement, prints its source text and its net ticks on stderr at once, and has the statement's value.
///
/// ```text
/// :CLK: let sum: u64 = (1..=1000).sum()                     :           412
/// ```
///
/// ```
/// use tsc_runtime::gclk;
///
/// gclk!(let sum: u64 = (1..=1000).sum());
/// assert_eq!(gclk!(sum / 2), 250_250);
/// ```
#[macro_export]
macro_rules! gclk {
    ($($statement:tt)*) => {
        $crate::__clk!([$($statement)*] $($statement)*)
    };
}

/// The text is the statement's own tokens: rustc lays out what a macro has put together as it likes.
#[doc(hidden)]
#[macro_export]
macro_rules! __clk {
    ($text:tt let mut $name:ident : $ty:ty = $value:expr $(;)?) => {
        let mut $name: $ty = $crate::__clk!($text $value);
    };
    ($text:tt let $name:ident : $ty:ty = $value:expr $(;)?) => {
        let $name: $ty = $crate::__clk!($text $value);
    };
    ($text:tt let $pat:pat = $value:expr $(;)?) => {
        let $pat = $crate::__clk!($text $value);
    };
    ([$($text:tt)*] $value:expr $(;)?) => {
        $crate::__gate!({
            let _clk = $crate::__private::Clk::start(::core::stringify!($($text)*));
            #[allow(unreachable_code)] // the expression may leave for good
            {
                $crate::__private::result({ $value })
            }
        } else { $value })
    };
}

/// Starts a section for code that no block can bracket, up to the [`stop!`](crate::stop) of what this gives.
///
/// Sections may nest and overlap. Stopping one twice, or one that was not started, does not compile; one that is dropped without
/// `stop!` is told on stderr.
///
/// ```
/// use tsc_runtime::{start, stop};
///
/// let parse = start!("parse");
/// let number: i32 = "17".parse().unwrap();
/// let print = start!("print", fence = "none");
/// stop!(parse);
/// println!("{number}");
/// stop!(print);
/// ```
#[macro_export]
macro_rules! start {
    ($name:literal $(,)?) => {
        $crate::start!($name, fence = "lfence")
    };
    ($name:literal, fence = $fence:tt $(,)?) => {
        $crate::__gate!({
            $crate::__private::Section::<$crate::__policy!($fence)>::start(
                $crate::__callsite!($name, $fence),
            )
        } else {
            $crate::__private::Unmeasured
        })
    };
}

/// Stops a section that [`start!`](crate::start) gave.
#[macro_export]
macro_rules! stop {
    ($section:expr) => {
        $section.stop()
    };
}

/// What `start!` gives where nothing is measured.
#[derive(Debug)]
#[must_use = "a section is measured up to its `stop!`"]
pub struct Unmeasured;

impl Unmeasured {
    /// Does nothing.
    #[inline(always)]
    pub const fn stop(self) {}
}

#[cfg(feature = "release-builds")]
#[doc(hidden)]
#[macro_export]
macro_rules! __gate {
    ($measured:block else $bare:block) => {
        $measured
    };
}

#[cfg(all(feature = "debug-builds", not(feature = "release-builds")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __gate {
    ($measured:block else $bare:block) => {{
        #[cfg(debug_assertions)]
        $measured
        #[cfg(not(debug_assertions))]
        $bare
    }};
}

#[cfg(not(any(feature = "debug-builds", feature = "release-builds")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __gate {
    ($measured:block else $bare:block) => {
        $bare
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __callsite {
    ($name:literal, $fence:tt) => {{
        $crate::__check_fence!($fence);
        static CALLSITE: $crate::__private::Callsite = $crate::__private::Callsite::new::<
            $crate::__policy!($fence),
        >($crate::__private::Meta {
            name: ::core::option::Option::Some($name),
            path: || $name,
            module: ::core::module_path!(),
            file: ::core::file!(),
            line: ::core::line!(),
            unit: ::core::option::Option::None,
        });
        &CALLSITE
    }};
}
