//! Statistics of the difference between two sets of runs. The unit is the run: calls in one process share its memory layout and its time,
//! so they are not independent of each other. All effects are ratios, and all shifts are differences of natural logarithms.

mod holm;
mod normal;
mod power;
mod rank_sum;
mod ratio;
mod shift;
mod sign_test;

pub use holm::adjust;
pub use power::{runs_for_a_test, runs_for_an_interval, runs_for_precision};
pub use rank_sum::RankSum;
pub use ratio::{Mean, Ratio};
pub use shift::{Shift, independent, paired};
pub use sign_test::SignTest;

/// The tail of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Tests whether the second sample is greater.
    Greater,
    /// Tests whether the second sample is smaller.
    Less,
}

/// The middle value. For an even number of values, the mean of the two in the middle. `None` if there are no values.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}
