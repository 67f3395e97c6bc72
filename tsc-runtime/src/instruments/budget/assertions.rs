//! The assertions.

/// Asserts that an expression takes at most a number of ticks: `assert_ticks!(p50 <= 120, f(x))`.
///
/// The left side names a statistic: `min`, `mode`, `mean`, `p10`, `p50`, `p90`, `p99` or `max`.
/// The expression is evaluated many times. If its cost does not settle, the assertion is skipped; `assert_ticks!(strict, …)` fails instead.
///
/// # Panics
///
/// If the budget is exceeded, or if the assertion is `strict` and the cost does not settle.
#[macro_export]
macro_rules! assert_ticks {
    ($($budget:tt)*) => {
        $crate::__budget!(Ticks, $($budget)*)
    };
}

/// Asserts that an expression takes at most a number of core cycles. Like [`assert_ticks!`], but independent of the core clock's frequency.
///
/// # Panics
///
/// If the budget is exceeded, or if the assertion is `strict` and the cost does not settle or core cycles are not known.
#[macro_export]
macro_rules! assert_core_cycles {
    ($($budget:tt)*) => {
        $crate::__budget!(CoreCycles, $($budget)*)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __budget {
    ($unit:ident, strict, $($budget:tt)*) => { $crate::__budget!(@ true, $unit, $($budget)*) };
    ($unit:ident, $($budget:tt)*) => { $crate::__budget!(@ false, $unit, $($budget)*) };
    (@ $strict:literal, $unit:ident, $statistic:ident <= $limit:expr, $work:expr $(,)?) => {
        $crate::budget::Budget {
            unit: $crate::budget::Unit::$unit,
            statistic: $crate::budget::Statistic::$statistic,
            limit: ($limit) as f64,
            strict: $strict,
        }
        .enforce(stringify!($work), || $work)
    };
}
