//! Finds the values around which runs gather.

/// The runs around a value belong to its mode if they differ from it by at most this share.
const NEAR: f64 = 0.02;
/// The modes of fewer runs than this share of all are not modes.
const LEAST_SHARE: f64 = 0.1;

/// A value around which runs gather.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mode {
    /// The median of the runs that belong to the mode.
    pub(crate) ticks: f64,
    /// Their share of all runs.
    pub(crate) share: f64,
    /// The numbers of the first and the last of these runs, counted from one.
    pub(crate) runs: (usize, usize),
}

impl Mode {
    pub(crate) fn contains(&self, ticks: f64) -> bool {
        (ticks / self.ticks - 1.0).abs() <= 2.0 * NEAR
    }
}

/// The modes of the runs, the most frequent one first. Each is the interval of ± [`NEAR`] with the most of the runs that are not near
/// another mode.
pub(crate) fn find(ticks: &[f64]) -> Vec<Mode> {
    let mut left: Vec<(f64, usize)> = ticks.iter().copied().zip(1..).collect();
    left.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut modes = Vec::new();
    while let Some(mode) = densest(&left, ticks.len()) {
        left.retain(|(ticks, _)| !mode.contains(*ticks));
        modes.push(mode);
    }
    modes
}

/// The interval with the most of these sorted runs, if they are enough of `all`.
fn densest(sorted: &[(f64, usize)], all: usize) -> Option<Mode> {
    let end = |begin: usize| {
        sorted.partition_point(|(ticks, _)| *ticks <= sorted[begin].0 * (1.0 + NEAR) / (1.0 - NEAR))
    };
    let begin = (0..sorted.len()).max_by_key(|begin| end(*begin) - begin)?;
    let runs = &sorted[begin..end(begin)];
    let share = runs.len() as f64 / all as f64;
    let numbers = || runs.iter().map(|(_, number)| *number);
    (share >= LEAST_SHARE).then_some(Mode {
        ticks: runs[runs.len() / 2].0,
        share,
        runs: (numbers().min()?, numbers().max()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of about this many ticks, with peaks.
    fn around(ticks: f64, count: usize) -> impl Iterator<Item = f64> {
        (0..count).map(move |run| match run % 20 {
            7 => ticks * 1.5 + 997.0 * run as f64,
            _ => ticks * (1.0 + (run * 37 % 11) as f64 * 0.001),
        })
    }

    #[test]
    fn runs_that_switch_have_two_modes() {
        let runs: Vec<f64> = around(90_652.0, 300).chain(around(48_700.0, 700)).collect();
        let modes = find(&runs);
        assert_eq!(modes.len(), 2, "{modes:?}");
        assert!(modes[0].contains(48_700.0) && modes[1].contains(90_652.0));
        assert_eq!((modes[0].runs, modes[1].runs), ((301, 1000), (1, 300)));
        assert!((modes[0].share - 0.665).abs() < 0.01, "{modes:?}");
    }

    #[test]
    fn one_value_with_peaks_is_one_mode() {
        let runs: Vec<f64> = around(51_000.0, 500).collect();
        assert_eq!(find(&runs).len(), 1);
        assert_eq!(find(&[]), []);
    }
}
