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
    ($name:literal, fence = $fence:tt, $([$($input:expr),* $(,)?],)? $body:block $(,)?) => {{
        $crate::__private::check_fence!($fence);
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
    }};
    ($name:literal, fence = $fence:tt, [$($input:tt)*], $($unexpected:tt)*) => {
        $crate::__expected_block!($($unexpected)*)
    };
    ($name:literal, fence = $fence:tt, $($unexpected:tt)*) => {
        $crate::__expected_block!($($unexpected)*)
    };
    ($name:literal, [$($input:tt)*], $($unexpected:tt)*) => {
        $crate::__expected_block!($($unexpected)*)
    };
    ($name:literal $(, $($unexpected:tt)*)?) => {
        $crate::__expected_block!($($($unexpected)*)?)
    };
    ($($unexpected:tt)*) => {
        $crate::__private::unexpected!(
            "expected a string literal, the row's name, first: cycles_block!(\"name\", { … })"
            $($unexpected)*
        )
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __expected_block {
    ($($unexpected:tt)*) => {
        $crate::__private::unexpected!(
            "expected a block last: cycles_block!(\"name\", { … }), or with `fence = \"…\",` and the block's `[inputs],` before it"
            $($unexpected)*
        )
    };
}

/// GCLK itself: runs statements, prints their source text and their net ticks on a line at once, and has the last one's value.
///
/// ```text
/// :CLK: let sum: u64 = (1..=1000).sum()                     :           412 ticks
/// ```
///
/// The line is GCLK's `\n:CLK: %-50.50s :%14I64d`, and then the unit: ticks, or ns where the operating system's clock stands in for
/// the counter. It goes to the standard error, or to where [`gclk_to`](crate::gclk_to) says.
///
/// ```
/// use tsc_runtime::gclk;
///
/// gclk!(let sum: u64 = (1..=1000).sum());
/// assert_eq!(gclk!(sum / 2), 250_250);
///
/// fn parse() -> Option<u32> {
///     let number = gclk! {
///         let first: u32 = "17".parse().ok()?;
///         first + 4
///     };
///     Some(number)
/// }
/// assert_eq!(parse(), Some(21));
/// ```
///
/// The variable of a single `let` (without `else`) lives on behind the macro. Several statements are a block, as in the original,
/// and what they declare ends with it.
///
/// # The first execution
///
/// A line stands for one execution, and a statement that is executed once is executed cold: its code is not in the instruction cache
/// and the branches in it are unknown, and so is the probe's own code right around it, whose cost was calibrated warm. So
/// `gclk!(x += 1)` prints some tens of ticks the first time, and about none when a loop comes back to it. That cost is real, but it
/// is not the statement's alone: repeat it, or take `tsc_runtime::measure` (feature `instruments`) to learn the constant.
#[macro_export]
macro_rules! gclk {
    () => {
        $crate::__private::unexpected!("expected a statement: gclk!(f(x))")
    };
    ($($statement:tt)*) => {
        $crate::__clk!([$($statement)*] $($statement)*)
    };
}

/// The text is the statements' own tokens: rustc lays out what a macro has put together as it likes.
#[doc(hidden)]
#[macro_export]
macro_rules! __clk {
    ($text:tt let mut $name:ident : $ty:ty = $value:expr $(;)?) => {
        let mut $name: $ty = $crate::__clk!($text $value);
    };
    ($text:tt let $name:ident : $ty:ty = $value:expr $(;)?) => {
        let $name: $ty = $crate::__clk!($text $value);
    };
    ($text:tt let ($($pattern:tt)*) : $ty:ty = $value:expr $(;)?) => {
        let ($($pattern)*): $ty = $crate::__clk!($text $value);
    };
    ($text:tt let $pat:pat = $value:expr $(;)?) => {
        let $pat = $crate::__clk!($text $value);
    };
    ([$($text:tt)*] $value:expr) => {
        $crate::__gate!({
            let _clk = $crate::__private::Clk::start(::core::stringify!($($text)*));
            #[allow(unreachable_code)] // the expression may leave for good
            {
                $crate::__private::result({ $value })
            }
        } else { $value })
    };
    ([$($text:tt)*] $($statement:tt)*) => {
        $crate::__gate!({
            let _clk = $crate::__private::Clk::start(::core::stringify!($($text)*));
            #[allow(unreachable_code)] // the statements may leave for good
            {
                $crate::__private::result({ $($statement)* })
            }
        } else { $($statement)* })
    };
}

/// Starts a section for code that no block can bracket, up to the [`stop!`](crate::stop) of what this gives.
///
/// Sections may nest and overlap. Stopping one twice, or one that was not started, does not compile; one that is dropped without
/// `stop!` is reported on stderr.
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
    ($name:literal, fence = $fence:tt $(,)?) => {{
        $crate::__private::check_fence!($fence);
        $crate::__gate!({
            $crate::__private::Section::<$crate::__policy!($fence)>::start(
                $crate::__callsite!($name, $fence),
            )
        } else {
            $crate::__private::Unmeasured
        })
    }};
    ($name:literal, $($unexpected:tt)*) => {
        $crate::__private::unexpected!(
            "expected nothing more, or a fence: start!(\"name\"), start!(\"name\", fence = \"none\")"
            $($unexpected)*
        )
    };
    ($($unexpected:tt)*) => {
        $crate::__private::unexpected!(
            "expected a string literal, the row's name: start!(\"name\"), start!(\"name\", fence = \"none\")"
            $($unexpected)*
        )
    };
}

/// Stops a section that [`start!`](crate::start) gave, and has its net ticks.
///
/// They are an `Option<f64>`: what lay between the reads, less what an empty section sees of itself and less what probes nested in
/// it cost. Signed, since that cost is known on average and the section may be shorter than its error. `None` where nothing is
/// measured: in a build without measurement, after [`pause`](fn@crate::pause), or if the counter was reset meanwhile.
///
/// ```
/// use tsc_runtime::{start, stop};
///
/// let parse = start!("parse");
/// let number: i32 = "17".parse().unwrap();
/// if let Some(ticks) = stop!(parse) {
///     println!("Cycles needed: {ticks:.0}");
/// }
/// # assert_eq!(number, 17);
/// ```
#[macro_export]
macro_rules! stop {
    ($section:expr $(,)?) => {
        $section.stop()
    };
    ($($unexpected:tt)*) => {
        $crate::__private::unexpected!("expected the section that start! gave: stop!(section)" $($unexpected)*)
    };
}

/// What `start!` gives where nothing is measured.
#[derive(Debug)]
#[must_use = "a section is measured up to its `stop!`"]
pub struct Unmeasured;

impl Unmeasured {
    /// Does nothing; no ticks were measured.
    #[inline(always)]
    pub const fn stop(self) -> Option<f64> {
        None
    }
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
        static CALLSITE: $crate::__private::Callsite = $crate::__private::Callsite::new::<
            $crate::__policy!($fence),
        >($crate::__private::Meta {
            name: ::core::option::Option::Some($name),
            path: || $name,
            module: ::core::module_path!(),
            file: ::core::file!(),
            line: ::core::line!(),
            unit: ::core::option::Option::None,
            returns_iterator: false,
            sample: ::core::option::Option::None,
        });
        &CALLSITE
    }};
}
