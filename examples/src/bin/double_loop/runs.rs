//! The article's figures for its runs.

/// A summary of runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runs {
    pub(crate) count: usize,
    pub(crate) mean: f64,
    /// The standard deviation, in percent of the mean.
    pub(crate) deviation_percent: f64,
    /// The smallest number of ticks.
    pub(crate) threshold: f64,
}

impl Runs {
    /// Summarises single runs.
    pub(crate) fn of(ticks: &[f64]) -> Self {
        let n = ticks.len() as f64;
        let mean = ticks.iter().sum::<f64>() / n;
        let squares: f64 = ticks.iter().map(|run| (run - mean).powi(2)).sum();
        Self {
            count: ticks.len(),
            mean,
            deviation_percent: 100.0 * (squares / (n - 1.0)).sqrt() / mean,
            threshold: ticks.iter().copied().fold(f64::INFINITY, f64::min),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_of_known_runs() {
        let runs = Runs::of(&[90.0, 100.0, 110.0]);
        assert_eq!((runs.count, runs.mean, runs.threshold), (3, 100.0, 90.0));
        assert!((runs.deviation_percent - 10.0).abs() < 1e-9);
    }
}
