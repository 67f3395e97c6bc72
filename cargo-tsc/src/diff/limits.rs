//! What makes the tests of a row a verdict.

use serde::Serialize;

use super::row::{Row, Verdict};
use crate::statistics::{Shift, median};

/// The probability that a table contains any false alarm. Of twenty comparisons of the same code, at most one has any in 94 of 100 cases; with
/// 5 %, it would be 74.
pub const LEVEL: f64 = 0.02;
/// The probability that an interval does not contain the true change.
const OUTSIDE: f64 = 0.05;

/// The calls that a test compares.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// All of them.
    All,
    /// The shorter half: what disturbs a call makes it longer. What changes only long calls is not in it, so it serves where all do not tell.
    Shorter,
}

/// The test of a row.
pub struct Test {
    pub of: Part,
    /// The shift from one side to the other.
    pub shift: Shift,
    /// The shift with what is common to the rest of the program.
    pub raw: f64,
    /// The shift between runs of the same code.
    pub same_code: Option<Shift>,
}

impl Test {
    /// The difference between runs of the same code.
    fn same_code(&self) -> f64 {
        self.same_code.map_or(0.0, |shift| shift.estimate.abs())
    }
}

/// The greatest difference between runs of the same code, in the steadier half of the rows: what a row that varies by half shows of the same
/// code says nothing about a steady one.
pub fn same_code_differs<'a>(tests: impl Iterator<Item = &'a Test>) -> f64 {
    let shifts: Vec<Shift> = tests.filter_map(|test| test.same_code).collect();
    let errors: Vec<f64> = shifts.iter().map(|shift| shift.std_error).collect();
    let most = median(&errors).unwrap_or(0.0);
    let steady = shifts.iter().filter(|shift| shift.std_error <= most);
    steady.fold(0.0, |greatest, shift| shift.estimate.abs().max(greatest))
}

/// What a change must exceed.
pub struct Limits {
    /// The greatest difference of the same code in steady rows.
    pub same_code: f64,
    /// The level of one test.
    pub level: f64,
}

impl Limits {
    /// The smallest change that counts.
    fn least(&self, row: &Row, test: &Test) -> f64 {
        let least = row.threshold.ln_1p().max(self.same_code);
        least.max(test.same_code())
    }

    /// Enters the verdict of a test, whose probability is `p` after the correction, into a row. Returns the size of the change if it is
    /// certain, or 0.
    pub fn judge(&self, row: &mut Row, test: &Test, p: f64) -> f64 {
        let shift = test.shift;
        let (low, high) = shift.bounds(OUTSIDE);
        let is_inside = low.abs().max(high.abs()) <= row.threshold.ln_1p();
        let is_found = p < LEVEL && shift.estimate.abs() >= self.least(row, test);
        let is_open = matches!(row.verdict, Verdict::NotResolved | Verdict::Layout);
        if test.of == Part::Shorter && !(is_found && is_open) {
            return 0.0;
        }
        row.verdict = match is_found {
            true if shift.estimate > 0.0 => Verdict::Slower,
            true => Verdict::Faster,
            false if is_inside => Verdict::NoChange,
            false if self.is_layout(row, test) => Verdict::Layout,
            false => Verdict::NotResolved,
        };
        row.part = test.of;
        row.ratio = Some(shift.estimate.exp());
        row.after = row.before.map(|before| before * shift.estimate.exp());
        row.interval = Some((low.exp(), high.exp()));
        row.same_code = test.same_code.map(|_| test.same_code().exp_m1());
        row.p = Some(p);
        let visible = shift.visible(self.level).max(self.least(row, test));
        row.visible = Some(visible.exp_m1());
        // If most of the program changed, the others differ as much from it. What it took itself tells which changed.
        if is_found {
            shift.estimate.abs() + test.raw.abs()
        } else {
            0.0
        }
    }

    /// Whether a change would be certain if runs differed from each other only as those of the same code in the same order of functions do.
    fn is_layout(&self, row: &Row, test: &Test) -> bool {
        let as_same_code = test.same_code.map(|same| Shift {
            // A pair of a run with the mean of two has ¾ of the variance of a pair of runs.
            std_error: same.std_error * 0.75_f64.sqrt(),
            ..test.shift
        });
        let is_change = as_same_code.is_some_and(|shift| shift.p_value() < self.level);
        is_change && test.shift.estimate.abs() >= self.least(row, test)
    }
}
