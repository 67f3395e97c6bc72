//! Which figure of a distribution a budget limits.

use std::fmt;

use crate::instruments::measure::Measurement;

/// The figure of a distribution that a budget limits. Written in the assertions by its name.
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
    /// The least sample.
    pub const min: Self = Self {
        name: "min",
        get: Measurement::min_ticks,
    };
    /// The most frequent value.
    pub const mode: Self = Self {
        name: "mode",
        get: Measurement::mode_ticks,
    };
    /// The mean without the samples that lie far out.
    pub const mean: Self = Self {
        name: "mean",
        get: Measurement::mean_ticks,
    };
    /// What 10 % of the samples do not exceed.
    pub const p10: Self = Self {
        name: "p10",
        get: Measurement::p10_ticks,
    };
    /// The median.
    pub const p50: Self = Self {
        name: "p50",
        get: Measurement::p50_ticks,
    };
    /// What 90 % of the samples do not exceed.
    pub const p90: Self = Self {
        name: "p90",
        get: Measurement::p90_ticks,
    };
    /// What 99 % of the samples do not exceed.
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
