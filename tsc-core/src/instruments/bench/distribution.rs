//! The distribution of a list of samples: pure functions.

use crate::calibration::statistics::median_of_sorted;

/// Sorted samples.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Distribution {
    sorted: Vec<f64>,
}

/// The centre of a distribution, computed from the samples near its median.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Centre {
    pub(crate) mean: f64,
    pub(crate) std_error: f64,
}

/// A run is divided into this many parts.
pub(crate) const PARTS: usize = 8;

/// Samples farther from the median than this many robust standard deviations are not part of the centre.
pub(crate) const DEVIATIONS: f64 = 5.0;

/// The centre of samples in the order of a run. Samples that follow one another may have an error in common, which does not show in the
/// differences between single samples. So the standard error is at least the one that the differences between parts of the run show.
pub(crate) fn centre_of_run(samples: &[f64], floor: f64) -> Centre {
    let centre = Distribution::new(samples).centre(floor);
    let parts = means_of_parts(samples, floor);
    let by_parts = deviation(&parts) / (parts.len() as f64).sqrt();
    Centre {
        std_error: centre.std_error.max(by_parts),
        ..centre
    }
}

/// The means of [`PARTS`] parts of a run, without outliers: fewer parts if there are not enough samples.
pub(crate) fn means_of_parts(samples: &[f64], floor: f64) -> Vec<f64> {
    let parts = samples.chunks(samples.len().div_ceil(PARTS).max(1));
    let mean = |part| Distribution::new(part).centre(floor).mean;
    parts.map(mean).collect()
}

impl Distribution {
    pub(crate) fn new(samples: &[f64]) -> Self {
        let mut sorted = samples.to_vec();
        sorted.retain(|sample| sample.is_finite());
        sorted.sort_unstable_by(f64::total_cmp);
        Self { sorted }
    }

    pub(crate) fn len(&self) -> usize {
        self.sorted.len()
    }

    /// The smallest sample that is at least as great as a share of `quantile` of the samples. NaN if there are no samples.
    pub(crate) fn quantile(&self, quantile: f64) -> f64 {
        let last = self.len().saturating_sub(1);
        let rank = (quantile * self.len() as f64).ceil() as usize;
        let index = rank.saturating_sub(1).min(last);
        self.sorted.get(index).copied().unwrap_or(f64::NAN)
    }

    /// NaN if there are no samples.
    pub(crate) fn median(&self) -> f64 {
        median_of_sorted(&self.sorted).unwrap_or(f64::NAN)
    }

    /// The median distance from the median, scaled to the standard deviation of a normal distribution.
    pub(crate) fn robust_deviation(&self) -> f64 {
        let median = self.median();
        let distances = self.sorted.iter().map(|sample| (sample - median).abs());
        1.4826 * Self::new(&distances.collect::<Vec<_>>()).median()
    }

    /// The mean and its standard error, without outliers. A sample within `floor` of the median is never an outlier. Callers pass a step or
    /// two of the counter, because correct samples differ by that much.
    pub(crate) fn centre(&self, floor: f64) -> Centre {
        let median = self.median();
        let least = floor.max(0.002 * median.abs());
        let reach = least.max(DEVIATIONS * self.robust_deviation());
        let mut near = self.sorted.clone();
        near.retain(|sample| (sample - median).abs() <= reach);
        Centre {
            mean: mean(&near),
            std_error: deviation(&near) / (near.len() as f64).sqrt(),
        }
    }

    /// Mean and standard deviation of all samples.
    pub(crate) fn moments(&self) -> (f64, f64) {
        (mean(&self.sorted), deviation(&self.sorted))
    }

    /// The place where the samples are densest: take the narrowest interval that contains half of the samples, then the narrowest that
    /// contains half of these, and so on; the result is its middle.
    pub(crate) fn mode(&self) -> f64 {
        let mut part = &self.sorted[..];
        while part.len() > 3 {
            let half = part.len().div_ceil(2);
            let width = |start: usize| part[start + half - 1] - part[start];
            let narrowest = (0..=part.len() - half).min_by(|a, b| width(*a).total_cmp(&width(*b)));
            let start = narrowest.unwrap_or(0);
            part = &part[start..start + half];
        }
        mean(part)
    }

    /// The share of samples that differ from `value` by at most `tolerance`.
    pub(crate) fn share_near(&self, value: f64, tolerance: f64) -> f64 {
        let is_near = |sample: &&f64| (*sample - value).abs() <= tolerance;
        let near = self.sorted.iter().filter(is_near).count();
        near as f64 / self.len().max(1) as f64
    }

    /// If the samples gather around two values: the two values, and the share of the samples around the lower one. Each group must have at
    /// least 15 % of the samples, and the values must differ by more than `apart` and by more than four times the deviation of either
    /// group.
    pub(crate) fn two_modes(&self, apart: f64) -> Option<(f64, f64, f64)> {
        const LEAST_SHARE: f64 = 0.15;
        let trimmed = &self.sorted[..self.sorted.len() - self.sorted.len() / 50];
        let n = trimmed.len();
        let least = ((n as f64 * LEAST_SHARE).ceil() as usize).max(2);
        if n < 2 * least {
            return None;
        }
        // Otsu's threshold: the split with the greatest variance between its sides.
        let total: f64 = trimmed.iter().sum();
        let mut below: f64 = trimmed[..least].iter().sum();
        let mut best = (0.0, least);
        for (split, next) in trimmed.iter().enumerate().take(n - least + 1).skip(least) {
            let (low, high) = (below / split as f64, (total - below) / (n - split) as f64);
            let between = split as f64 * (n - split) as f64 * (high - low).powi(2);
            if between > best.0 {
                best = (between, split);
            }
            below += next;
        }
        let (low, high) = trimmed.split_at(best.1);
        let (a, b) = (mean(low), mean(high));
        let within = deviation(low).max(deviation(high));
        (b - a > apart && b - a > 4.0 * within).then_some((a, b, best.1 as f64 / n as f64))
    }
}

pub(crate) fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

fn deviation(samples: &[f64]) -> f64 {
    if samples.len() < 2 {
        return 0.0;
    }
    let mean = mean(samples);
    let squares = samples.iter().map(|sample| (sample - mean).powi(2));
    (squares.sum::<f64>() / (samples.len() - 1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(around: f64, width: f64, count: usize) -> Vec<f64> {
        (0..count)
            .map(|i| around + width * ((i * 37 % 101) as f64 / 100.0 - 0.5))
            .collect()
    }

    #[test]
    fn quantiles_of_a_few() {
        let four = Distribution::new(&[4.0, 1.0, 3.0, 2.0]);
        assert_eq!(
            [0.0, 0.25, 0.5, 0.75, 1.0].map(|q| four.quantile(q)),
            [1.0, 1.0, 2.0, 3.0, 4.0]
        );
        assert!(Distribution::new(&[f64::NAN]).median().is_nan());
    }

    #[test]
    fn centre_ignores_what_lies_far_out() {
        let mut samples = spread(1000.0, 10.0, 500);
        samples.extend([50_000.0; 20]);
        let centre = Distribution::new(&samples).centre(2.0);
        assert!((centre.mean - 1000.0).abs() < 0.5, "{centre:?}");
        assert!(centre.std_error < 0.3);
    }

    #[test]
    fn error_of_a_run_contains_what_neighbours_have_in_common() {
        // Eight levels, each for a hundred samples: the deviation of single samples divided by the root of their number is too small.
        let levels = [0.0, 3.0, -1.0, 2.0, -3.0, 1.0, 0.0, -2.0];
        let run: Vec<f64> = levels
            .iter()
            .flat_map(|level| spread(1000.0 + level, 0.1, 100))
            .collect();
        let alone = Distribution::new(&run).centre(2.0);
        let in_order = centre_of_run(&run, 2.0);
        assert_eq!(in_order.mean, alone.mean);
        assert!((in_order.std_error - 2.0 / 8.0_f64.sqrt()).abs() < 0.01);
        assert!(alone.std_error < 0.1);
        assert!(centre_of_run(&[], 2.0).std_error.is_nan());
    }

    #[test]
    fn quantised_samples_keep_their_mean() {
        // A counter that advances in steps of 26 ticks, and work of 61 ticks: differences of 52 or 78, in the correct shares.
        let samples: Vec<f64> = (0..1000)
            .map(|i| if (i * 61) % 26 < 9 { 78.0 } else { 52.0 })
            .collect();
        let centre = Distribution::new(&samples).centre(52.0);
        assert!((centre.mean - 61.0).abs() < 0.5, "{centre:?}");
    }

    #[test]
    fn mode_is_where_most_are() {
        let mut samples = spread(100.0, 2.0, 300);
        samples.extend(spread(150.0, 40.0, 200));
        assert!((Distribution::new(&samples).mode() - 100.0).abs() < 1.5);
    }

    #[test]
    fn two_modes_are_told_from_one() {
        let mut samples = spread(84.0, 2.0, 300);
        assert_eq!(Distribution::new(&samples).two_modes(3.0), None);
        samples.extend(spread(112.0, 2.0, 200));
        let (a, b, share) = Distribution::new(&samples).two_modes(3.0).unwrap();
        assert!((a - 84.0).abs() < 0.5 && (b - 112.0).abs() < 0.5 && (share - 0.6).abs() < 0.03);
        // A long tail is not a second mode.
        let tail: Vec<f64> = (0..400).map(|i| 100.0 + 400.0 / f64::from(i + 1)).collect();
        assert_eq!(Distribution::new(&tail).two_modes(3.0), None);
    }
}
