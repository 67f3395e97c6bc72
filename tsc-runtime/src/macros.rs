//! The macros that measure less than a function. They follow the same gate as the attribute.

/// Measures a block under the given name, and evaluates to the block's value.
///
/// `?`, `return`, `break` and `continue` leave the block as they would without the macro, and each way out is recorded. The names in
/// brackets are inputs: the compiler does not begin to compute with them before the block. A block that only calls functions needs none. One
/// with a loop that writes to slices is slower with them, because each store might change an input, for all that the compiler knows. A function
/// with `#[cycles]` is not.
/// With `light` before the block, its executions are counted, and ticks of a clock tell their time, as with `#[cycles(light)]`.
///
/// The block must not wait: an `.await` in it is an error, and one that another macro hides, as `join!` does, gives figures that mean nothing.
/// An `async fn` with `#[cycles]` measures code that waits.
///
/// ```
/// use tsc_runtime::cycles_block;
///
/// fn longest(words: &[&str]) -> Option<usize> {
///     let longest = cycles_block!("scan", [words], { words.iter().map(|word| word.len()).max()? });
///     cycles_block!("check", fence = "none", { assert!(longest < 100) });
///     cycles_block!("hash", light, { words.iter().map(|word| word.len() as u64).sum::<u64>() });
///     Some(longest)
/// }
/// assert_eq!(longest(&["a", "abc"]), Some(3));
/// ```
#[macro_export]
macro_rules! cycles_block {
    ($name:literal, $([$($input:expr),* $(,)?],)? $body:block $(,)?) => {
        $crate::cycles_block!($name, fence = "lfence", $([$($input),*],)? $body)
    };
    ($name:literal, light, $body:block $(,)?) => {{
        $crate::__private::check_block!($body);
        $crate::__gate!({
            let __frame = $crate::__private::Frame::new();
            let _probe = $crate::__private::LightBlock::start(
                $crate::__callsite!($name, $crate::__private::Light),
                &__frame,
            );
            $body
        } else $body)
    }};
    ($name:literal, fence = $fence:tt, $([$($input:expr),* $(,)?],)? $body:block $(,)?) => {{
        $crate::__private::check_fence!($fence);
        $crate::__private::check_block!($body);
        $crate::__gate!({
            let mut __slot = $crate::__private::Slot::new();
            let _probe = {
                $($($crate::__private::escape(&$input);)*)?
                $crate::__private::Probe::<$crate::__policy!($fence)>::start(
                    $crate::__callsite!($name, $crate::__policy!($fence)),
                    &mut __slot,
                )
            };
            // The block may leave for good. For the lint `unreachable_code`, the call is reachable then, too.
            $crate::__private::result(if false { $crate::__private::absurd() } else { $body })
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

/// What `cargo tsc run --all` writes around the body of a closure.
// Input:  __closure!(light "{closure#0}" { … })
// Output: { let __frame = Frame::new(); let _probe = LightBlock::start({ static __CALLSITE: … }, &__frame); { … } }
#[doc(hidden)]
#[macro_export]
macro_rules! __closure {
    (light $part:literal $body:block) => {
        $crate::__gate!({
            let __frame = $crate::__private::Frame::new();
            let _probe = $crate::__private::LightBlock::start(
                $crate::__part!($part, $crate::__private::Light),
                &__frame,
            );
            $body
        } else $body)
    };
    (timed $part:literal $body:block) => {
        $crate::__gate!({
            let mut __slot = $crate::__private::Slot::new();
            let _probe = $crate::__private::Probe::<$crate::__policy!("lfence")>::start(
                $crate::__part!($part, $crate::__policy!("lfence")),
                &mut __slot,
            );
            $body
        } else $body)
    };
}

/// The same around an `async` block, which is measured poll by poll.
// Input:  __future!(light "{closure#0}" async move { … })
// Output: light_polled(|| { static __CALLSITE: … }, async move { … })
#[doc(hidden)]
#[macro_export]
macro_rules! __future {
    (light $part:literal $future:expr) => {
        $crate::__gate!({
            $crate::__private::light_polled(
                || $crate::__part!($part, $crate::__private::Light),
                $future,
            )
        } else { $future })
    };
    (timed $part:literal $future:expr) => {
        $crate::__gate!({
            $crate::__private::polled::<$crate::__policy!("lfence"), _, _>(
                || $crate::__part!($part, $crate::__policy!("lfence")),
                $future,
            )
        } else { $future })
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __expected_block {
    ($($unexpected:tt)*) => {
        $crate::__private::unexpected!(
            "expected a block last: cycles_block!(\"name\", { … }), or with `light,`, or with `fence = \"…\",` and the block's `[inputs],` before it"
            $($unexpected)*
        )
    };
}

/// The macro GCLK: executes statements, at once prints a line with their source text and their net ticks, and evaluates to the value of the
/// last one.
///
/// ```text
/// :CLK: let sum: u64 = (1..=1000).sum()                    :           412 ticks
/// ```
///
/// The line is GCLK's `\n:CLK: %-50.50s :%14I64d`, followed by the unit: ticks, or ns if the operating system's clock replaces the
/// counter. It is written to standard error, or to the output that [`gclk_to`](crate::gclk_to) sets.
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
/// The variables of a single `let`, with or without `else`, are available after the macro. Several statements form a block, as in the
/// original, and their variables end with it.
///
/// # The first execution
///
/// A line is about a single execution. The first execution is cold: the statement's code is not in the instruction cache, and its branches
/// are not predicted. The same holds for the probe's own code around it, whose overhead was calibrated warm. So `gclk!(x += 1)` prints
/// some tens of ticks the first time, and about zero when a loop executes it again. To find the constant cost, repeat the statement, or use
/// `tsc_runtime::measure` (feature `instruments`).
#[macro_export]
macro_rules! gclk {
    () => {
        $crate::__private::unexpected!("expected a statement: gclk!(f(x))")
    };
    ($($statement:tt)*) => {
        $crate::__clk!([$($statement)*] $($statement)*)
    };
}

/// The text consists of the statements' own tokens, because rustc does not guarantee how it formats code that a macro has composed.
#[doc(hidden)]
#[macro_export]
macro_rules! __clk {
    // The first `else` outside of brackets is that of the `let`: what comes before it may not end with a block.
    (@else $text:tt [$($pat:tt)*] [$($value:tt)*] else { $($otherwise:tt)* } $(;)?) => {
        let $($pat)* = $crate::__clk!($text $($value)*) else { $($otherwise)* };
    };
    (@else $text:tt $pat:tt $value:tt else $($rest:tt)*) => { $crate::__clk!(@run $text $text) };
    (@else $text:tt $pat:tt [$($value:tt)*] $next:tt $($rest:tt)*) => {
        $crate::__clk!(@else $text $pat [$($value)* $next] $($rest)*)
    };
    (@run [$($text:tt)*] [$($statement:tt)*]) => {
        $crate::__gate!({
            let _clk = $crate::__private::Clk::start($crate::__private::stringify!($($text)*));
            // As in `cycles_block!`.
            $crate::__private::result(if false { $crate::__private::absurd() } else { $($statement)* })
        } else { $($statement)* })
    };
    // The pattern before the first `:`, because a macro may not ask for a pattern before a `:`.
    (@typed $text:tt [$($pat:tt)*] : $ty:ty = $value:expr $(;)?) => {
        let $($pat)*: $ty = $crate::__clk!($text $value);
    };
    (@typed $text:tt $pat:tt : $ty:ty = $value:expr; $($rest:tt)+) => { $crate::__clk!(@run $text $text) };
    (@typed $text:tt [$($pat:tt)*] : $ty:ty = $($rest:tt)+) => {
        $crate::__clk!(@else $text [$($pat)*: $ty] [] $($rest)+)
    };
    (@typed $text:tt [$($pat:tt)*] $next:tt $($rest:tt)*) => {
        $crate::__clk!(@typed $text [$($pat)* $next] $($rest)*)
    };
    (@typed $text:tt $pat:tt) => { $crate::__clk!(@run $text $text) };
    ($text:tt let $pat:pat = $value:expr $(;)?) => {
        let $pat = $crate::__clk!($text $value);
    };
    ($text:tt let $pat:pat = $value:expr; $($rest:tt)+) => { $crate::__clk!(@run $text $text) };
    ($text:tt let $pat:pat = $($rest:tt)+) => { $crate::__clk!(@else $text [$pat] [] $($rest)+) };
    ($text:tt let $($rest:tt)+) => { $crate::__clk!(@typed $text [] $($rest)+) };
    ($text:tt $value:expr) => { $crate::__clk!(@run $text [$value]) };
    ($text:tt $($statement:tt)*) => { $crate::__clk!(@run $text $text) };
}

/// Starts a section, for code that no block can enclose. The section ends when its value is passed to [`stop!`](crate::stop).
///
/// Sections may be nested and may overlap, so the self time of a section is also that of the sections and of the annotated function around
/// it. Stopping a section twice does not compile. If a section is dropped without `stop!`, a line on standard error says so.
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
                $crate::__callsite!($name, $crate::__policy!($fence), section),
            )
        } else {
            $crate::__private::Unmeasured::start()
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

/// Stops a section that [`start!`](crate::start) has started, and evaluates to its net ticks.
///
/// They are an `Option<f64>`: the ticks between the two reads, minus those of an empty section and those of probes nested in it. The
/// result can be negative, because this overhead is only known on average. It is `None` if nothing is measured: in a build without
/// measurement, after [`pause`](fn@crate::pause), or if the counter was reset in the meantime.
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

#[doc(hidden)]
#[macro_export]
macro_rules! __callsite {
    ($name:literal, $kind:ty $(, $section:ident)?) => {{
        static CALLSITE: $crate::__private::Callsite = $crate::__private::Callsite::new::<$kind>(
            $crate::__private::meta(
                &(),
                $crate::__private::module_path!(),
                $crate::__private::line!(),
            )
            .named($name)
            $(.$section())?,
        );
        &CALLSITE
    }};
}

/// The callsite of a part of a function, which is called like the function and the part.
#[doc(hidden)]
#[macro_export]
macro_rules! __part {
    ($part:literal, $kind:ty) => {{
        static __CALLSITE: $crate::__private::Callsite = $crate::__private::Callsite::new::<$kind>(
            $crate::__private::meta(
                &|| {},
                $crate::__private::module_path!(),
                $crate::__private::line!(),
            )
            .part($part),
        );
        &__CALLSITE
    }};
}
