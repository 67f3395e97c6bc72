//! Budgets for tests: an assertion that a call takes no more than so many ticks or core cycles.
//!
//! A budget is held against a [`Measurement`]; one that did not settle proves nothing, so the assertion is skipped with the reason on
//! stderr, unless it is `strict`. A budget that is exceeded panics with the distribution, the verdict and the machine.
//!
//! ```no_run
//! use tsc_runtime::{assert_core_cycles, assert_ticks};
//!
//! let text = "a line of text";
//! assert_ticks!(p50 <= 500, text.len());
//! assert_core_cycles!(strict, mean <= 800, text.to_uppercase());
//! ```

use std::fmt;
use std::time::Duration;

mod assertions;
mod statistic;

pub use crate::{assert_core_cycles, assert_ticks};
pub use statistic::Statistic;

use crate::instruments::measure::{Measure, Measurement, Verdict};
use crate::machine::machine;

/// What a budget counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Ticks of the counter.
    Ticks,
    /// Cycles of the core.
    CoreCycles,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ticks => "ticks",
            Self::CoreCycles => "core cycles",
        })
    }
}

/// What a call may cost.
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is measured before `check` or `enforce`"]
pub struct Budget {
    unit: Unit,
    statistic: Statistic,
    limit: f64,
    strict: bool,
    time_limit: Duration,
}

/// How a call did that has not exceeded its budget.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It is constant and within the budget.
    Met(Measurement),
    /// Whether it is within the budget cannot be said.
    Skipped {
        /// The reason.
        why: String,
        /// What was measured.
        measurement: Measurement,
    },
}

/// How a call exceeded its budget, or a strict one could not be judged. Displayed with everything that is known.
#[derive(Clone, Debug)]
pub struct Exceeded {
    budget: Budget,
    value: Option<f64>,
    why: Option<String>,
    measurement: Measurement,
}

impl Exceeded {
    /// The value that is too great, in the budget's unit; `None` if a strict budget could not be judged.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        self.value
    }

    /// What was measured.
    #[must_use]
    pub fn measurement(&self) -> &Measurement {
        &self.measurement
    }
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Budget {
            unit,
            statistic,
            limit,
            ..
        } = self.budget;
        match (self.value, &self.why) {
            (Some(value), _) => writeln!(
                f,
                "{statistic} is {value:.1} {unit}, over the budget of {limit:.1}"
            )?,
            (None, why) => writeln!(
                f,
                "cannot be judged: {}",
                why.as_deref().unwrap_or("no reason")
            )?,
        }
        write!(f, "{}", self.measurement)?;
        let machine = machine();
        let [cpu, hypervisor, kernel] = [&machine.cpu, &machine.hypervisor, &machine.kernel]
            .map(|fact| fact.as_deref().unwrap_or("not known"));
        write!(f, "  on {cpu}; hypervisor: {hypervisor}; kernel: {kernel}")
    }
}

impl std::error::Error for Exceeded {}

impl Budget {
    /// At most `limit` of `unit`, by `statistic`; a second is spent on it at most.
    pub fn new(unit: Unit, statistic: Statistic, limit: f64) -> Self {
        Self {
            unit,
            statistic,
            limit,
            strict: false,
            time_limit: Duration::from_secs(1),
        }
    }

    /// Makes a measurement that does not settle a failure.
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// How long to measure at most.
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// Measures `work` and holds it against the budget.
    ///
    /// # Errors
    ///
    /// It is exceeded; or it is strict and cannot be judged.
    pub fn check<R>(self, name: &str, work: impl FnMut() -> R) -> Result<Outcome, Box<Exceeded>> {
        self.judge(Measure::new(name).time_limit(self.time_limit).run(work))
    }

    /// As [`check`](Self::check), for tests.
    ///
    /// # Panics
    ///
    /// With the distribution, the verdict and the machine, where [`check`](Self::check) returns an error. A budget that cannot be judged
    /// and is not strict is a line on stderr.
    #[track_caller]
    pub fn enforce<R>(self, name: &str, work: impl FnMut() -> R) {
        match self.check(name, work) {
            Ok(Outcome::Met(_)) => {}
            Ok(Outcome::Skipped { why, .. }) => eprintln!("budget of {name} skipped: {why}"),
            Err(exceeded) => panic!("{name}: {exceeded}"),
        }
    }

    fn judge(self, measurement: Measurement) -> Result<Outcome, Box<Exceeded>> {
        let factor = match self.unit {
            Unit::Ticks => Ok(1.0),
            Unit::CoreCycles => measurement
                .core_cycles()
                .and(measurement.clock())
                .map(|clock| clock.cycles_per_tick())
                .ok_or_else(|| "core cycles are not known here".to_owned()),
        };
        let value = match (measurement.verdict(), factor) {
            (Verdict::Unsettled { why }, _) => Err(why.to_string()),
            (_, factor) => factor.map(|factor| factor * self.statistic.of(&measurement)),
        };
        match value {
            Ok(value) if value <= self.limit => Ok(Outcome::Met(measurement)),
            Ok(value) => Err(Box::new(Exceeded {
                budget: self,
                value: Some(value),
                why: None,
                measurement,
            })),
            Err(why) if self.strict => Err(Box::new(Exceeded {
                budget: self,
                value: None,
                why: Some(why),
                measurement,
            })),
            Err(why) => Ok(Outcome::Skipped { why, measurement }),
        }
    }
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::*;

    fn wide() -> u64 {
        (0..100_u64).fold(1, |hash, i| std::hint::black_box(hash.wrapping_mul(31) ^ i))
    }

    #[test]
    fn generous_budget_is_met_or_skipped() {
        assert_ticks!(p50 <= 10_000_000, wide());
        assert_core_cycles!(mean <= 1e7, wide());
    }

    #[test]
    fn exceeded_budget_tells_everything() {
        let exceeded = std::iter::repeat_with(|| {
            Budget::new(Unit::Ticks, Statistic::min, 1.0).check("wide", wide)
        })
        .take(5)
        .find_map(Result::err);
        // On a machine on which nothing settles there is nothing to see.
        let Some(exceeded) = exceeded else { return };
        let text = exceeded.to_string();
        for part in [
            "over the budget of 1.0",
            "p99",
            "constant",
            "samples",
            "on ",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn unsettled_is_a_failure_only_if_strict() {
        let budget = Budget::new(Unit::Ticks, Statistic::p50, 1.0).time_limit(Duration::ZERO);
        assert!(matches!(
            budget.check("wide", wide),
            Ok(Outcome::Skipped { .. })
        ));
        let failed = budget.strict().check("wide", wide).unwrap_err();
        assert_eq!(failed.value(), None);
        assert!(failed.to_string().contains("cannot be judged: time limit"));
    }
}
