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

mod assertions;

pub use crate::{assert_core_cycles, assert_ticks};

use crate::instruments::measure::{Measure, Measurement, Verdict};
use crate::machine::machine;

/// The unit of a budget: its name, and how many of it are a tick, as far as a measurement knows that.
#[doc(hidden)]
pub type Unit = (&'static str, fn(&Measurement) -> Option<f64>);

/// The limit of what a call may cost. Only the assertions make it.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Budget {
    pub unit: Unit,
    /// Its name, and how a measurement has it.
    pub statistic: (&'static str, fn(&Measurement) -> f64),
    pub limit: f64,
    pub strict: bool,
}

impl Budget {
    pub const TICKS: Unit = ("ticks", |_| Some(1.0));
    pub const CORE_CYCLES: Unit = ("core cycles", |measurement| {
        measurement.clock().map(|clock| clock.cycles_per_tick())
    });

    /// Measures `work` and compares it with the budget. If that cannot be judged and the budget is not strict, a line is printed on standard
    /// error.
    ///
    /// # Panics
    ///
    /// The budget is exceeded, or it is strict and cannot be judged. The message contains the distribution, the verdict and the machine.
    #[track_caller]
    pub fn enforce<R>(self, name: &str, work: impl FnMut() -> R) {
        match self.judge(&Measure::new(name).run(work)) {
            Ok(None) => {}
            Ok(Some(why)) => eprintln!("budget of {name} skipped: {why}"),
            Err(failure) => panic!("{name}: {failure}"),
        }
    }

    /// If the cost is within the budget, `Ok`; with a reason, if that is not known.
    fn judge(self, measurement: &Measurement) -> Result<Option<String>, String> {
        let limit = self.limit;
        let ((statistic, of), (unit, per_tick)) = (self.statistic, self.unit);
        let found = match (measurement.verdict(), per_tick(measurement)) {
            (Verdict::Unsettled { why }, _) => Err(why.to_string()),
            (_, None) => Err("core cycles are not known here".to_owned()),
            (_, Some(factor)) => Ok(factor * of(measurement)),
        };
        let failure = match found {
            Ok(value) if value <= limit => return Ok(None),
            Ok(value) => format!("{statistic} is {value:.1} {unit}, over the budget of {limit:.1}"),
            Err(why) if !self.strict => return Ok(Some(why)),
            Err(why) => format!("cannot be judged: {why}"),
        };
        let machine = machine();
        let [cpu, hypervisor, kernel] = [&machine.cpu, &machine.hypervisor, &machine.kernel]
            .map(|fact| fact.as_deref().unwrap_or("not known"));
        Err(format!(
            "{failure}\n{measurement}  on {cpu}; hypervisor: {hypervisor}; kernel: {kernel}"
        ))
    }
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use std::time::Duration;

    use super::*;

    fn wide() -> u64 {
        (0..100_u64).fold(1, |hash, i| std::hint::black_box(hash.wrapping_mul(31) ^ i))
    }

    #[test]
    fn generous_budget_is_met_or_skipped() {
        assert_ticks!(p50 <= 10_000_000, wide());
        assert_core_cycles!(mean <= 1e7, wide());
    }

    const ONE_TICK: Budget = Budget {
        unit: Budget::TICKS,
        statistic: ("min", Measurement::min_ticks),
        limit: 1.0,
        strict: false,
    };

    #[test]
    fn exceeded_budget_tells_everything() {
        let exceeded = std::iter::repeat_with(|| ONE_TICK.judge(&Measure::new("wide").run(wide)))
            .take(5)
            .find_map(Result::err);
        // If the measurement does not settle on this machine, there is nothing to check.
        let Some(text) = exceeded else { return };
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
        let unsettled = Measure::new("wide").time_limit(Duration::ZERO).run(wide);
        assert!(matches!(ONE_TICK.judge(&unsettled), Ok(Some(_))));
        let strict = Budget {
            strict: true,
            ..ONE_TICK
        };
        let failed = strict.judge(&unsettled).unwrap_err();
        // It is the time limit, or an interruption of the only sample.
        let Verdict::Unsettled { why } = unsettled.verdict() else {
            panic!("{unsettled}");
        };
        let why = format!("cannot be judged: {why}\n");
        assert!(failed.starts_with(&why), "{failed}");
    }
}
