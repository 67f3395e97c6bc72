//! The assertions.

/// Asserts that an expression takes at most a number of ticks: `assert_ticks!(p50 <= 120, f(x))`.
///
/// The left side names a [`Statistic`](crate::instruments::budget::Statistic): `min`, `mode`, `mean`, `p10`, `p50`, `p90`, `p99` or `max`.
/// The expression is evaluated many times. If its cost does not settle, the assertion is skipped; `assert_ticks!(strict, …)` fails instead.
///
/// # Panics
///
/// If the budget is exceeded, or if the assertion is `strict` and the cost does not settle.
#[macro_export]
macro_rules! assert_ticks {
    (strict, $statistic:ident <= $limit:expr, $work:expr $(,)?) => {
        $crate::__budget!($crate::budget::Unit::Ticks, $statistic, $limit)
            .strict()
            .enforce(stringify!($work), || $work)
    };
    ($statistic:ident <= $limit:expr, $work:expr $(,)?) => {
        $crate::__budget!($crate::budget::Unit::Ticks, $statistic, $limit)
            .enforce(stringify!($work), || $work)
    };
}

/// Asserts that an expression takes at most a number of core cycles. Like [`assert_ticks!`], but independent of the core clock's frequency.
///
/// # Panics
///
/// If the budget is exceeded, or if the assertion is `strict` and the cost does not settle or core cycles are not known.
#[macro_export]
macro_rules! assert_core_cycles {
    (strict, $statistic:ident <= $limit:expr, $work:expr $(,)?) => {
        $crate::__budget!($crate::budget::Unit::CoreCycles, $statistic, $limit)
            .strict()
            .enforce(stringify!($work), || $work)
    };
    ($statistic:ident <= $limit:expr, $work:expr $(,)?) => {
        $crate::__budget!($crate::budget::Unit::CoreCycles, $statistic, $limit)
            .enforce(stringify!($work), || $work)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __budget {
    ($unit:expr, $statistic:ident, $limit:expr) => {
        $crate::budget::Budget::new(
            $unit,
            $crate::budget::Statistic::$statistic,
            ($limit) as f64,
        )
    };
}
