//! The statistics that a budget can limit.

use std::fmt;

use crate::instruments::measure::Measurement;

/// The statistic that a budget limits. In the assertions it is written by its name.
#[derive(Clone, Copy, Debug)]
pub struct Statistic {
    name: &'static str,
    get: fn(&Measurement) -> f64,
}

#[expect(
    non_upper_case_globals,
    reason = "written as they are called: p50 <= 120"
)]
impl Statistic {
    /// The smallest sample.
    pub const min: Self = Self {
        name: "min",
        get: Measurement::min_ticks,
    };
    /// The mode: the value around which the samples are densest.
    pub const mode: Self = Self {
        name: "mode",
        get: Measurement::mode_ticks,
    };
    /// The mean without outliers.
    pub const mean: Self = Self {
        name: "mean",
        get: Measurement::mean_ticks,
    };
    /// The 10 % quantile.
    pub const p10: Self = Self {
        name: "p10",
        get: Measurement::p10_ticks,
    };
    /// The median.
    pub const p50: Self = Self {
        name: "p50",
        get: Measurement::p50_ticks,
    };
    /// The 90 % quantile.
    pub const p90: Self = Self {
        name: "p90",
        get: Measurement::p90_ticks,
    };
    /// The 99 % quantile.
    pub const p99: Self = Self {
        name: "p99",
        get: Measurement::p99_ticks,
    };
    /// The greatest sample.
    pub const max: Self = Self {
        name: "max",
        get: Measurement::max_ticks,
    };
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
