//! The statistics that a budget can limit.

use std::fmt;

use crate::instruments::measure::Measurement;

/// The statistic that a budget limits. In the assertions it is written by its name.
#[derive(Clone, Copy, Debug)]
pub struct Statistic {
    name: &'static str,
    get: fn(&Measurement) -> f64,
}

macro_rules! statistics {
    ($($(#[$doc:meta])* $name:ident: $get:ident;)*) => {
        #[expect(non_upper_case_globals, reason = "written as they are called: p50 <= 120")]
        impl Statistic {$(
            $(#[$doc])*
            pub const $name: Self = Self {
                name: stringify!($name),
                get: Measurement::$get,
            };
        )*}
    };
}

statistics! {
    /// The smallest sample.
    min: min_ticks;
    /// The mode: the value around which the samples are densest.
    mode: mode_ticks;
    /// The mean without outliers.
    mean: mean_ticks;
    /// The 10 % quantile.
    p10: p10_ticks;
    /// The median.
    p50: p50_ticks;
    /// The 90 % quantile.
    p90: p90_ticks;
    /// The 99 % quantile.
    p99: p99_ticks;
    /// The greatest sample.
    max: max_ticks;
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl Statistic {
    pub(super) fn of(&self, measurement: &Measurement) -> f64 {
        (self.get)(measurement)
    }
}
