//! The verdicts as data.

use serde::Serialize;

/// The verdict on a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It takes longer, or its count is greater, by at least the threshold.
    Slower,
    /// It takes less time, or its count is smaller, by at least the threshold.
    Faster,
    /// It differs, but so much as it differs from one order of the functions in memory to another.
    Layout,
    /// Its time changed by at most the threshold.
    NoChange,
    /// It is not known whether its time changed.
    NotResolved,
    /// Its count differs between runs of the same code, so it is not judged.
    Varies,
    /// It was not called before.
    New,
    /// It is not called any more.
    Gone,
    /// It is too small a part of the program to be judged.
    TooSmall,
    /// The policy excludes it.
    Ignored,
}

/// A function with its figures on both sides.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// `module::name`.
    pub name: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The metric in the median run before, in ticks or as a count.
    pub before: Option<f64>,
    /// The metric in the median run after.
    pub after: Option<f64>,
    /// The figure after divided by the figure before.
    pub ratio: Option<f64>,
    /// The 95 % confidence interval of the ratio.
    pub interval: Option<(f64, f64)>,
    /// The share of the calls that ratio and interval are about, if the change is only known of the shorter ones.
    pub share_of_calls: Option<f64>,
    /// The probability of such a difference by chance, corrected for the number of tests.
    pub p: Option<f64>,
    /// Smaller changes do not count.
    pub threshold: f64,
    /// The smallest change that would have been found in 9 of 10 cases.
    pub visible: Option<f64>,
    /// Calls in the median run before and after.
    pub calls: (f64, f64),
    /// The share of the time on the CPU, before and after.
    pub share: (f64, f64),
}

/// The verdicts on all functions, and what they are based on.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The rows, changed functions first.
    pub rows: Vec<Row>,
    /// Runs before and after.
    pub runs: (usize, usize),
    /// Whether the two sides were measured in turns.
    pub interleaved: bool,
    /// The number of orders of functions in which each side was linked.
    pub orders: usize,
    /// Whether the metric is a count, which needs no statistics.
    pub exact: bool,
    /// The greatest difference of a row between runs of the same code: of all calls, and of the shorter ones. No smaller one is a change.
    pub same_code: [f64; 2],
    /// By what the machine may have changed between the sides. Each interval is wider by this.
    pub machine: f64,
    /// If there are too few runs for any verdict: how many runs per side are needed.
    pub too_few_runs: Option<usize>,
}

impl Comparison {
    /// The smallest change that counts, and the smallest that would have been found in every row.
    #[must_use]
    pub fn visible(&self) -> (f64, f64) {
        let judged = self.rows.iter().filter(|row| row.visible.is_some());
        judged.fold((0.0_f64, 0.0_f64), |(least, visible), row| {
            (
                least.max(row.threshold),
                row.visible.unwrap_or(0.0).max(visible),
            )
        })
    }
}
