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

/// Two groups of values: the median of each, and the number of its values.
pub type Modes = [(f64, usize); 2];

/// The two groups of values, if the widest gap between neighbours is a fifth, and twice as wide as each group. Each group has at least two
/// values, and a quarter of them.
#[must_use]
pub fn modes(values: &[f64]) -> Option<Modes> {
    let mut sorted: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let least = sorted.len().div_ceil(4).max(2);
    let gap = |at: &usize| sorted[*at] - sorted[at - 1];
    let places = least..=sorted.len().checked_sub(least)?;
    let widest = places.max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
    let groups: [&[f64]; 2] = sorted.split_at(widest).into();
    let width = groups.map(|group| group[group.len() - 1] - group[0]);
    (gap(&widest) > (2.0 * width[0].max(width[1])).max(1.2_f64.ln()))
        .then(|| groups.map(|group| (median(group).unwrap_or(0.0).exp(), group.len())))
}

/// The mean.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The least and the greatest value.
#[must_use]
pub fn range(values: &[f64]) -> (f64, f64) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (least, greatest)
}

#[cfg(test)]
mod tests {
    use super::modes;

    #[test]
    fn runs_in_two_groups_are_two_modes_and_others_are_not() {
        let two = [
            51.0, 203.0, 50.0, 205.0, 52.0, 201.0, 204.0, 51.0, 206.0, 202.0,
        ];
        let [low, high] = modes(&two).unwrap();
        assert_eq!((low.1, high.1), (4, 6));
        assert!((low.0 - 51.0).abs() < 0.1 && (high.0 - 203.5).abs() < 0.1);
        // One run that is far off, a gap that is small, runs that are everywhere, and too few.
        assert_eq!(modes(&[51.0, 52.0, 53.0, 51.0, 52.0, 203.0]), None);
        assert_eq!(modes(&[51.0, 52.0, 51.0, 58.0, 59.0, 58.0]), None);
        assert_eq!(modes(&[10.0, 12.0, 15.0, 18.0, 22.0, 27.0]), None);
        assert_eq!(modes(&[1.0, 9.0, 9.0]), None);
        assert_eq!(modes(&[0.0, 0.0, 0.0, 0.0]), None);
    }
}
