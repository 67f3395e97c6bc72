//! The verdicts as data.

use serde::Serialize;

use crate::statistics::Modes;

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
    /// It has no time above 0 in some run: it was not called, or what was subtracted for its probes, or its error, is as much.
    NotPositive,
    /// The metric is of single calls, and its calls were not timed one by one.
    NotTimed,
    /// It is too small a part of the program to be judged.
    TooSmall,
    /// The policy excludes it.
    Ignored,
}

impl Verdict {
    /// Whether the function is judged.
    #[must_use]
    pub fn is_judged(self) -> bool {
        !matches!(self, Self::NotTimed | Self::TooSmall | Self::Ignored)
    }

    /// Whether its time may have changed.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::NotResolved | Self::Layout | Self::NotPositive)
    }
}

/// A function with its figures on both sides.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// `module::name`.
    pub name: String,
    /// The verdict.
    pub verdict: Verdict,
    /// If the shortest calls made the verdict: their share of all calls, and their time after, divided by that before.
    pub shortest: Option<(f64, f64)>,
    /// The metric in the median run before, in ticks or as a count.
    pub before: Option<f64>,
    /// The metric after. If it is judged as a time, this is `before` with the change, without what the machine changed.
    pub after: Option<f64>,
    /// If the runs of a side are in two groups: the median of each group, and its number of runs.
    pub modes: [Option<Modes>; 2],
    /// The figure after divided by the figure before. Unknown if the shortest calls made the verdict and all seem to have changed the other way.
    pub ratio: Option<f64>,
    /// The 95 % confidence interval of the ratio.
    pub interval: Option<(f64, f64)>,
    /// The difference between runs of the same code. No smaller one is a change.
    pub same_code: Option<f64>,
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

/// A change that would have been found. Unknown beyond ten times the time: the error itself is then hardly known.
#[must_use]
pub fn known_change(visible: f64) -> Option<f64> {
    Some(visible).filter(|&visible| visible <= 9.0)
}

/// What two sessions differ in.
#[derive(Debug)]
pub struct Difference {
    /// Why they are not to be compared.
    pub objections: Vec<String>,
    /// The comparison, if there is no such reason or if it does not count.
    pub comparison: Option<Comparison>,
}

/// The verdicts on all functions, and what they are based on.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Comparison {
    /// The rows, changed functions first.
    pub rows: Vec<Row>,
    /// Runs before and after.
    pub runs: (usize, usize),
    /// Whether the two sides were measured in turns.
    pub interleaved: bool,
    /// The number of layouts in memory in which each side was measured: orders of functions, or sizes of the environment.
    pub orders: usize,
    /// Whether the metric is a count, which needs no statistics.
    pub exact: bool,
    /// The greatest difference between runs of the same code, in the steadier half of the rows: of all calls, and of the shortest where they
    /// were compared. What is judged by these calls is no change in any row if it is smaller.
    pub same_code: [Option<f64>; 2],
    /// By what the machine may have changed between the sides. Each interval is wider by this.
    pub machine: f64,
    /// If there are too few runs for any verdict: how many runs per side are needed.
    pub too_few_runs: Option<usize>,
    /// If there are several layouts in memory, and too few for any verdict: how many are needed.
    pub too_few_orders: Option<usize>,
}

impl Comparison {
    /// The rows with this verdict.
    pub fn with(&self, verdict: Verdict) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.verdict == verdict)
    }

    /// Why no time is judged, if there are too few runs or layouts.
    #[must_use]
    pub fn too_few(&self) -> Option<String> {
        let (before, after) = self.runs;
        let orders = self.orders;
        let of_runs = self.too_few_runs.map(|least| {
            format!("{before} and {after} runs are not judged: it takes {least} a side; measure with -n 10")
        });
        let of_orders = self.too_few_orders.map(|least| {
            format!("{orders} layouts in memory are not judged: it takes {least}; measure without --links, or with --links {least} or more")
        });
        of_runs.or(of_orders)
    }

    /// The row that is open in which the greatest change could not have been seen, and that change.
    #[must_use]
    pub fn least_visible(&self) -> Option<(&Row, f64)> {
        let open = self.rows.iter().filter(|row| row.verdict.is_open());
        let visible = open.filter_map(|row| Some((row, row.visible?)));
        visible.max_by(|(_, a), (_, b)| a.total_cmp(b))
    }
}
