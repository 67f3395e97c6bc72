//! How the cost of probes is measured, and what is known of it after some measurements.

use super::statistics::median;
use crate::record::thread;
use crate::tsc::{Ticks, clock, elapsed};

/// The least number of rounds that are measured. One under Miri, where a probe takes milliseconds and no figure means anything.
const MIN_ROUNDS: usize = if cfg!(miri) { 1 } else { 9 };
const MAX_ROUNDS: usize = if cfg!(miri) { 1 } else { 301 };

/// The result of one measurement: the visible, the total and the nesting overhead.
pub(super) type Costs = [f64; 3];

/// The medians of the figures in some rounds, none below 0. After `enough` ticks, rounds are made only until there are enough. `None` if every
/// round was in vain.
///
/// Meanwhile the thread counts as being in the cold path. So no check gives time to a light function, and no call that is not in a round's
/// table puts the thread's own table back: a signal handler's, or any after another thread has reset or resumed the recording.
pub(super) fn medians<const N: usize>(
    enough: Ticks,
    mut round: impl FnMut() -> Option<[f64; N]>,
) -> Option<[f64; N]> {
    let _busy = thread::this().enter_cold_path();
    let mut rounds = Vec::with_capacity(MAX_ROUNDS);
    let began = clock::now();
    for _ in 0..MAX_ROUNDS {
        if rounds.len() >= MIN_ROUNDS && elapsed(began, clock::now()) >= enough.cast_signed() {
            break;
        }
        rounds.extend(round());
    }
    let of = |at: usize| median(rounds.iter().map(|figures| figures[at]).collect());
    (!rounds.is_empty()).then(|| core::array::from_fn(|at| of(at).unwrap_or(0.0).max(0.0)))
}

/// The ticks of one of `count` calls.
pub(super) fn per_call(calls: fn(u32), count: u32) -> f64 {
    let began = clock::now();
    calls(count);
    elapsed(began, clock::now()) as f64 / f64::from(count)
}

/// Repeated measurements of one cost, none of which is below 0.
#[derive(Clone, Copy, Default)]
pub(super) struct Series {
    count: u32,
    sum: f64,
    squares: f64,
    /// `None` if nothing was measured.
    least: Option<f64>,
    greatest: f64,
}

impl Series {
    pub(super) fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        self.squares += value * value;
        self.least = Some(self.least.map_or(value, |least| least.min(value)));
        self.greatest = self.greatest.max(value);
    }

    /// 0 if nothing was measured.
    pub(super) fn mean(&self) -> f64 {
        self.sum / f64::from(self.count.max(1))
    }

    /// How far from the mean the cost may have been while the program ran: half the range, but not more than two standard deviations, because
    /// one measurement among many may fall into a moment in which the hypervisor gave most of the CPU to others.
    pub(super) fn spread(&self) -> f64 {
        let half_range = (self.greatest - self.least.unwrap_or(0.0)) / 2.0;
        let mean = self.mean();
        let variance = self.squares / f64::from(self.count.max(1)) - mean * mean;
        half_range.min(2.0 * variance.max(0.0).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_measurement_among_many_hardly_widens_the_spread() {
        let mut series = Series::default();
        assert_eq!(series.spread(), 0.0);
        series.add(120.0);
        series.add(130.0);
        assert_eq!((series.mean(), series.spread()), (125.0, 5.0));
        for _ in 0..400 {
            series.add(125.0);
        }
        series.add(2125.0);
        assert!(
            (150.0..250.0).contains(&series.spread()),
            "{}",
            series.spread()
        );
    }
}
