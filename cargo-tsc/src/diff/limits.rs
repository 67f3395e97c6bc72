//! What makes the tests of a row a verdict.

use super::row::{Row, Verdict};
use crate::statistics::Shift;

/// The probability that a table contains any false alarm.
pub const LEVEL: f64 = 0.05;
/// The tests of a row: of all calls, and of the shorter ones if they are known.
pub type Tests = Vec<Test>;

/// A test of a row.
pub struct Test {
    /// The shift from one side to the other.
    pub shift: Shift,
    /// The shift between runs of the same code.
    pub same_code: Option<Shift>,
    /// The share of the calls that it is about, if not all.
    pub share: Option<f64>,
}

/// The greatest difference of a row between runs of the same code: of all calls, and of the shorter ones.
pub fn same_code_differs(tests: &[Tests]) -> [f64; 2] {
    [false, true].map(|of_shorter| {
        let tests = tests.iter().flatten();
        let tests = tests.filter(|test| test.share.is_some() == of_shorter);
        let shifts = tests.filter_map(|test| Some(test.same_code?.estimate.abs()));
        shifts.fold(0.0, f64::max)
    })
}

/// What a change must exceed.
pub struct Limits {
    /// The greatest differences of the same code.
    pub same_code: [f64; 2],
    /// The level of one test.
    pub level: f64,
}

impl Limits {
    /// The smallest change that counts.
    fn least(&self, row: &Row, test: &Test) -> f64 {
        let same_code = self.same_code[usize::from(test.share.is_some())];
        row.threshold.ln_1p().max(same_code)
    }

    /// Enters the verdict of the tests into a row. Returns the size of the change if it is certain, or 0.
    pub fn judge(&self, row: &mut Row, tests: &Tests, p_values: &[f64]) -> f64 {
        let Some(all) = tests.first() else { return 0.0 };
        let (low, high) = all.shift.bounds(LEVEL);
        let is_inside = low.abs().max(high.abs()) <= row.threshold.ln_1p();
        // What is known of the shorter calls must not contradict what is known of all.
        let agrees = |test: &Test| {
            let up = test.shift.estimate > 0.0;
            test.share.is_none() || (!is_inside && if up { high > 0.0 } else { low < 0.0 })
        };
        let found = tests.iter().zip(p_values).find(|(test, p)| {
            let is_great = test.shift.estimate.abs() >= self.least(row, test);
            **p < LEVEL && is_great && agrees(test)
        });
        row.verdict = match found {
            Some((test, _)) if test.shift.estimate > 0.0 => Verdict::Slower,
            Some(_) => Verdict::Faster,
            None if is_inside => Verdict::NoChange,
            None if self.is_layout(row, all) => Verdict::Layout,
            None => Verdict::NotResolved,
        };
        let (shown, p) = found.unwrap_or((all, &p_values[0]));
        let (low, high) = shown.shift.bounds(LEVEL);
        row.ratio = Some(shown.shift.estimate.exp());
        row.interval = Some((low.exp(), high.exp()));
        row.share_of_calls = shown.share;
        row.p = Some(*p);
        let visible = |test: &Test| test.shift.visible(self.level).max(self.least(row, test));
        let visible = tests.iter().map(visible).fold(f64::INFINITY, f64::min);
        row.visible = Some(visible.exp_m1());
        // If most of the program changed, the others differ as much from it. What it took itself tells which changed.
        found.map_or(0.0, |(test, _)| {
            test.shift.estimate.abs() + test.shift.raw.abs()
        })
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
