//! Statistics of the difference between two sides. The unit is a run, or all runs of one link of the program: calls in one process share its
//! memory layout and its time, so they are not independent of each other. All effects are ratios, and all shifts are differences of natural
//! logarithms.

mod holm;
mod shift;
mod student;

pub use holm::adjust;
pub use shift::Shift;

/// The middle value. For an even number of values, the mean of the two in the middle. `None` if there are no values.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
