//! What makes the tests of a row a verdict.

use super::row::{Row, Verdict};
use crate::statistics::{Shift, median};

/// The probability that a table contains any false alarm. Of twenty comparisons of the same code, at most one has any in 94 of 100 cases; with
/// 5 %, it would be 74.
pub const LEVEL: f64 = 0.02;
/// The probability that an interval does not contain the true change.
const OUTSIDE: f64 = 0.05;

/// The calls that a test compares.
#[derive(Clone, Copy, PartialEq)]
pub enum Part {
    /// All of them.
    All,
    /// The shortest quarter, or half: what disturbs a call makes it longer. What changes only long calls is not in it, so it serves where all
    /// do not tell.
    Shortest,
}

pub const PARTS: [Part; 2] = [Part::All, Part::Shortest];

/// The test of a row.
pub struct Test {
    pub of: Part,
    /// Their share of all calls.
    pub share: f64,
    /// What a change of these calls is of the whole function's time, if the others change by as many ticks.
    pub weight: f64,
    /// The shift from one side to the other.
    pub shift: Shift,
    /// The shift with what is common to the rest of the program.
    pub raw: f64,
    /// The shift between runs of the same code.
    pub same_code: Option<Shift>,
    /// The variance of a pair of this test, as a part of that of a pair of two runs.
    pub variance: f64,
}

impl Test {
    /// The difference between runs of the same code.
    fn same_code(&self) -> f64 {
        self.same_code.map_or(0.0, |shift| shift.estimate.abs())
    }
}

/// The greatest difference between runs of the same code in these calls, in the steadier half of the rows: what a row that varies by half shows of
/// the same code says nothing about a steady one, nor do all calls about the shortest. `None` if it is not known of any row.
pub fn same_code_differs(tests: &[(usize, Test)], of: Part) -> Option<f64> {
    let of_part = tests.iter().filter(|(_, test)| test.of == of);
    let shifts: Vec<Shift> = of_part.filter_map(|(_, test)| test.same_code).collect();
    let most = median(&Vec::from_iter(shifts.iter().map(|shift| shift.std_error)))?;
    let steady = shifts.iter().filter(|shift| shift.std_error <= most);
    steady.map(|shift| shift.estimate.abs()).reduce(f64::max)
}

/// What a change must exceed.
pub struct Limits {
    /// The greatest difference of the same code in steady rows, of each part.
    pub same_code: [Option<f64>; 2],
    /// The level of one test.
    pub level: f64,
}

impl Limits {
    /// The smallest change of these calls that counts. The threshold is of the whole function.
    fn least(&self, row: &Row, test: &Test) -> f64 {
        let same_code = self.same_code[test.of as usize].unwrap_or(0.0);
        let least = (row.threshold.ln_1p() / test.weight).max(same_code);
        least.max(test.same_code())
    }

    /// Whether a test whose probability is `p` after the correction finds a change.
    pub fn is_found(&self, row: &Row, test: &Test, p: f64) -> bool {
        p < LEVEL && test.shift.estimate.abs() >= self.least(row, test)
    }

    /// Whether another test of the row says the same as this one, so far as one test by itself can.
    pub fn confirms(&self, row: &Row, test: &Test, other: &Test) -> bool {
        let (low, high) = other.shift.bounds(OUTSIDE);
        let is_same_way = if test.shift.estimate > 0.0 {
            low > 0.0
        } else {
            high < 0.0
        };
        is_same_way && other.shift.estimate.abs() >= self.least(row, other)
    }

    /// Enters the verdict of a test, whose probability is `p` after the correction, into a row. The shortest calls are judged after all, whose
    /// figures the row keeps. Returns the size of the change if it is found, or 0.
    pub fn judge(&self, row: &mut Row, test: &Test, p: f64, is_found: bool) -> f64 {
        let size = test.shift.estimate;
        let is_slower = size > 0.0;
        // The shortest calls do not tell where all of them say that the function became faster, or slower, instead.
        let contradicts = |(low, high)| if is_slower { high < 1.0 } else { low > 1.0 };
        let is_open = row.verdict.is_open() && !row.interval.is_some_and(contradicts);
        match test.of {
            Part::All => self.enter(row, test),
            Part::Shortest if is_found && is_open => {
                row.shortest = Some((test.share, size.exp()));
                // How much all calls changed is only known from these.
                row.ratio = row.ratio.filter(|&ratio| (ratio > 1.0) == is_slower);
                row.after = row.after.filter(|_| row.ratio.is_some());
            }
            Part::Shortest => return 0.0,
        }
        row.p = Some(p);
        if !is_found {
            return 0.0;
        }
        row.verdict = match is_slower {
            true => Verdict::Slower,
            false => Verdict::Faster,
        };
        // If most of the program changed, the others differ as much from it. What it took itself tells which changed.
        test.weight * (size.abs() + test.raw.abs())
    }

    /// Enters the figures of all calls into a row, and the verdict if no change is certain.
    fn enter(&self, row: &mut Row, test: &Test) {
        let shift = test.shift;
        let (low, high) = shift.bounds(OUTSIDE);
        row.verdict = match low.abs().max(high.abs()) <= row.threshold.ln_1p() {
            true => Verdict::NoChange,
            false if self.is_layout(row, test) => Verdict::Layout,
            false => Verdict::NotResolved,
        };
        row.shortest = None;
        row.ratio = Some(shift.estimate.exp());
        row.after = row.before.map(|before| before * shift.estimate.exp());
        row.interval = Some((low.exp(), high.exp()));
        row.same_code = test.same_code.map(|_| test.same_code().exp_m1());
        let visible = shift.visible(self.level, self.least(row, test));
        row.visible = Some(visible.exp_m1());
    }

    /// Whether a change would be certain if runs differed from each other only as those of the same code in the same order of functions do.
    fn is_layout(&self, row: &Row, test: &Test) -> bool {
        let as_same_code = test.same_code.map(|same| Shift {
            std_error: same.std_error * test.variance.sqrt(),
            ..test.shift
        });
        let is_change = as_same_code.is_some_and(|shift| shift.p_value() < self.level);
        is_change && test.shift.estimate.abs() >= self.least(row, test)
    }
}
