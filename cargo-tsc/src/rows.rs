//! The figures of a callsite, as the verbs show them.

use tsc_report::{CallsiteReport, Clock, Report};

use crate::command_line::{Sort, Unit};

/// The path of a callsite: `module::name`.
#[must_use]
pub fn path(callsite: &CallsiteReport) -> String {
    format!("{}::{}", callsite.module(), callsite.name())
}

/// Time outside annotated callees: on the CPU if that is known.
#[must_use]
pub fn self_ticks(callsite: &CallsiteReport) -> f64 {
    callsite
        .self_on_cpu_ticks()
        .unwrap_or(callsite.self_ticks())
}

/// The sum of [`self_ticks`] over all rows.
#[must_use]
pub fn all_self_ticks(report: &Report) -> f64 {
    report.callsites().iter().map(self_ticks).sum()
}

/// The value by which rows are sorted, the greatest first. Names are sorted elsewhere.
#[must_use]
pub fn key(callsite: &CallsiteReport, sort: Sort) -> f64 {
    let known = |ticks: Option<f64>| ticks.unwrap_or(f64::NEG_INFINITY);
    match sort {
        Sort::SelfTime | Sort::Name => self_ticks(callsite),
        Sort::Total => callsite.total_ticks(),
        Sort::Calls => callsite.calls() as f64,
        Sort::Mean => known(callsite.mean_ticks()),
        Sort::P99 => known(callsite.p99_ticks()),
        Sort::Max => known(callsite.max_ticks()),
    }
}

/// How many of a unit one tick is. `None` if the rate of the clock or of the core is not known.
#[must_use]
pub fn per_tick(unit: Unit, clock: &Clock) -> Option<f64> {
    match unit {
        Unit::Ticks => Some(1.0),
        Unit::Ns => clock.hz().map(|hz| 1e9 / hz),
        Unit::Cycles => clock.core_cycles_per_tick(),
    }
}

/// A figure with about four digits: `73.75M` is 73 750 000.
#[must_use]
pub fn number(value: f64) -> String {
    const STEPS: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")];
    let size = value.abs();
    if !value.is_finite() {
        return "-".to_owned();
    }
    for (step, letter) in STEPS {
        if size >= step {
            let divisor = if letter == "k" { 1e3 } else { step };
            return format!("{}{letter}", four_digits(value / divisor));
        }
    }
    four_digits(value)
}

fn four_digits(value: f64) -> String {
    let size = value.abs();
    if size >= 1000.0 || value == 0.0 {
        format!("{value:.0}")
    } else if size >= 100.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

/// A figure, or `-` if it is not known.
#[must_use]
pub fn maybe(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), number)
}

/// A share as a percentage.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_exact_enough() {
        let shown = [73_746_727.0, 12_345.0, 9_999.0, -12.345, 0.5, 0.0, 2.5e12].map(number);
        assert_eq!(
            shown,
            ["73.75M", "12.35k", "9999", "-12.35", "0.50", "0", "2.50T"]
        );
        assert_eq!(maybe(Some(f64::NAN)), "-");
    }
}
