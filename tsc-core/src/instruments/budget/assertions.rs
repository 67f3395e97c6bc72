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
        $crate::__budget!(TICKS, $($budget)*)
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
        $crate::__budget!(CORE_CYCLES, $($budget)*)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __budget {
    (@statistic min) => { ("min", $crate::measure::Measurement::min_ticks) };
    (@statistic mode) => { ("mode", $crate::measure::Measurement::mode_ticks) };
    (@statistic mean) => { ("mean", $crate::measure::Measurement::mean_ticks) };
    (@statistic p10) => { ("p10", $crate::measure::Measurement::p10_ticks) };
    (@statistic p50) => { ("p50", $crate::measure::Measurement::p50_ticks) };
    (@statistic p90) => { ("p90", $crate::measure::Measurement::p90_ticks) };
    (@statistic p99) => { ("p99", $crate::measure::Measurement::p99_ticks) };
    (@statistic max) => { ("max", $crate::measure::Measurement::max_ticks) };
    ($unit:ident, strict, $($budget:tt)*) => { $crate::__budget!(@ true, $unit, $($budget)*) };
    ($unit:ident, $($budget:tt)*) => { $crate::__budget!(@ false, $unit, $($budget)*) };
    (@ $strict:literal, $unit:ident, $statistic:ident <= $limit:expr, $work:expr $(,)?) => {
        $crate::budget::Budget {
            unit: $crate::budget::Budget::$unit,
            statistic: $crate::__budget!(@statistic $statistic),
            limit: ($limit) as f64,
            strict: $strict,
        }
        .enforce(stringify!($work), || $work)
    };
}
