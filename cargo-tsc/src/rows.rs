//! The figures of a callsite, as the verbs show them.

use std::collections::HashMap;
use std::path::Path;

use tsc_report::{CallsiteReport, Report};

use crate::progress::name_of;
use crate::table::UNKNOWN;

/// The path of a callsite: `module::name`.
#[must_use]
pub fn path(callsite: &CallsiteReport) -> String {
    format!("{}::{}", callsite.module(), callsite.name())
}

/// The command line of a report's process, with the program's name in place of its path.
#[must_use]
pub fn command_line(report: &Report) -> String {
    let mut words = report.process().argv().to_vec();
    if let Some(program) = words.first_mut() {
        *program = name_of(Path::new(program));
    }
    words.join(" ")
}

/// The rows of a report, to find the same function's in another report.
pub struct RowsByName<'a>(HashMap<(&'a str, &'a str, u32), &'a CallsiteReport>);

impl<'a> RowsByName<'a> {
    /// Those of a report.
    #[must_use]
    pub fn of(report: &'a Report) -> Self {
        // Of several with one name and line, the first one stays.
        let rows = report.callsites().iter().rev();
        Self(rows.map(|row| (identity(row), row)).collect())
    }

    /// The row of the same function as this one.
    #[must_use]
    pub fn same(&self, row: &CallsiteReport) -> Option<&'a CallsiteReport> {
        self.0.get(&identity(row)).copied()
    }
}

fn identity(row: &CallsiteReport) -> (&str, &str, u32) {
    (row.module(), row.name(), row.line())
}

/// A figure with about four digits: `73.75M` is 73 750 000.
fn number(value: f64) -> String {
    const STEPS: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")];
    let size = value.abs();
    if !value.is_finite() {
        return UNKNOWN.to_owned();
    }
    for (step, letter) in STEPS {
        if size >= 0.999_95 * step {
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
    number(value.unwrap_or(f64::NAN))
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
