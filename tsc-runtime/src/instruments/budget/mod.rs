//! Budgets for tests: assertions that a call takes at most a number of ticks or core cycles.
//!
//! A budget is compared with a [`Measurement`]. A measurement that does not settle proves nothing: the assertion is skipped, and the reason
//! is printed on standard error. If the budget is `strict`, the assertion panics instead. If a budget is exceeded, the assertion panics
//! with the distribution, the verdict and the machine.
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
use crate::named::named;

named! {
    /// The unit of a budget.
    #[non_exhaustive]
    pub enum Unit {
        /// Ticks of the counter.
        Ticks = "ticks",
        /// Cycles of the core.
        CoreCycles = "core cycles",
    }
}

/// The limit of what a call may cost.
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is measured before `check` or `enforce`"]
pub struct Budget {
    unit: Unit,
    statistic: Statistic,
    limit: f64,
    strict: bool,
    time_limit: Duration,
}

/// The result if the budget is met, or if it cannot be judged.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The cost is constant and within the budget.
    Met(Measurement),
    /// It is not known whether the cost is within the budget.
    Skipped {
        /// The reason.
        why: String,
        /// The measurement.
        measurement: Measurement,
    },
}

/// The error if a call exceeded its budget, or if a strict budget could not be judged. Its text contains the distribution, the verdict and
/// the machine.
#[derive(Clone, Debug)]
pub struct Exceeded {
    budget: Budget,
    /// The value, or why it cannot be judged.
    found: Result<f64, String>,
    measurement: Measurement,
}

impl Exceeded {
    /// The value that exceeds the budget, in the budget's unit. `None` if a strict budget could not be judged.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        self.found.as_ref().ok().copied()
    }

    /// The measurement.
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
        match &self.found {
            Ok(value) => writeln!(
                f,
                "{statistic} is {value:.1} {unit}, over the budget of {limit:.1}"
            )?,
            Err(why) => writeln!(f, "cannot be judged: {why}")?,
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
    /// A budget of at most `limit` of `unit`, for `statistic`. Measuring takes at most a second.
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

    /// The greatest time that measuring may take.
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// Measures `work` and compares it with the budget.
    ///
    /// ```
    /// use tsc_runtime::budget::{Budget, Statistic, Unit};
    ///
    /// let budget = Budget::new(Unit::Ticks, Statistic::p50, 100_000.0);
    /// match budget.check("sum", || (0..100_u64).sum::<u64>()) {
    ///     Ok(outcome) => println!("{outcome:?}"),
    ///     Err(exceeded) => panic!("{exceeded}"),
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The budget is exceeded, or it is strict and cannot be judged.
    pub fn check<R>(self, name: &str, work: impl FnMut() -> R) -> Result<Outcome, Box<Exceeded>> {
        self.judge(Measure::new(name).time_limit(self.time_limit).run(work))
    }

    /// Like [`check`](Self::check), for tests. If a budget cannot be judged and is not strict, a line is printed on standard error.
    ///
    /// # Panics
    ///
    /// If [`check`](Self::check) returns an error. The message contains the distribution, the verdict and the machine.
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
        let found = match measurement.verdict() {
            Verdict::Unsettled { why } => Err(why.to_string()),
            _ => factor.map(|factor| factor * self.statistic.of(&measurement)),
        };
        match found {
            Ok(value) if value <= self.limit => Ok(Outcome::Met(measurement)),
            Err(why) if !self.strict => Ok(Outcome::Skipped { why, measurement }),
            found => Err(Box::new(Exceeded {
                budget: self,
                found,
                measurement,
            })),
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
        // If the measurement does not settle on this machine, there is nothing to check.
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
