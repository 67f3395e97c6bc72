//! The core clock during the rounds of a measurement.

use crate::instruments::bench::distribution::Distribution;

/// The number of consecutive rounds during which the core clock is taken to be the same.
const ROUNDS_PER_CLOCK: usize = 16;

/// The core cycles per tick of every [`ROUNDS_PER_CLOCK`] consecutive rounds. The last group also has the rounds that are too few for a
/// group.
pub(super) struct Clocks {
    groups: Vec<f64>,
    ordered: Distribution,
    /// The standard error of their mean, as a share of it.
    pub(super) error: f64,
}

impl Clocks {
    /// Computes the clock from the ticks that the reference chain's `cycles` core cycles took in each round. `None` if the ticks cannot be
    /// those of a clock, or if there are too few.
    pub(super) fn new(references: &[f64], cycles: f64, step: f64) -> Option<Self> {
        // The reference is a difference of two durations, each of which is right to one step. So references that differ by up to two steps,
        // and by the tick by which a step may be split, are equally right, and only their mean is the clock's: of a coarse counter, the
        // most frequent value alone is off by up to half a step. The mean is without outliers, because a single disturbed round would
        // spoil it.
        let floor = 2.0 * step + 1.0;
        let count = references.len() / ROUNDS_PER_CLOCK;
        let mut groups = Vec::with_capacity(count);
        let mut squares = 0.0;
        for group in 0..count {
            let begin = group * ROUNDS_PER_CLOCK;
            let end = if group + 1 == count {
                references.len()
            } else {
                begin + ROUNDS_PER_CLOCK
            };
            let centre = Distribution::new(&references[begin..end]).centre(floor);
            groups.push(cycles / centre.mean);
            let weight = (end - begin) as f64 / references.len() as f64;
            squares += (weight * centre.std_error / centre.mean).powi(2);
        }
        let is_clock = |clock: &f64| clock.is_finite() && *clock > 0.0;
        (count > 0 && groups.iter().all(is_clock)).then(|| Self {
            ordered: Distribution::new(&groups),
            groups,
            error: squares.sqrt(),
        })
    }

    /// The core cycles per tick during the round with this number.
    pub(super) fn during(&self, round: usize) -> f64 {
        self.groups[(round / ROUNDS_PER_CLOCK).min(self.groups.len() - 1)]
    }

    pub(super) fn least(&self) -> f64 {
        self.ordered.quantile(0.0)
    }

    pub(super) fn median(&self) -> f64 {
        self.ordered.median()
    }

    pub(super) fn greatest(&self) -> f64 {
        self.ordered.quantile(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instruments::bench::scripted::Scripted;

    #[test]
    fn clock_is_right_whatever_the_counters_step() {
        // In a thousand runs, the error is greater than four standard errors in less than one.
        for seed in 1..50 {
            for mut counter in Scripted::both(seed) {
                let references: Vec<f64> = (0..70)
                    .map(|_| (counter.ticks(5340.0) - counter.ticks(2740.0)) as f64)
                    .collect();
                let clocks = Clocks::new(&references, 2600.0, counter.step() as f64).unwrap();
                let mean = (0..70).map(|round| clocks.during(round)).sum::<f64>() / 70.0;
                let off = mean / counter.cycles_per_tick() - 1.0;
                assert!(
                    off.abs() < 4.5 * clocks.error + 0.0005,
                    "{off} {}",
                    clocks.error
                );
                assert!(clocks.error < 0.003, "{}", clocks.error);
            }
        }
    }

    #[test]
    fn disturbed_rounds_do_not_change_the_clock() {
        let references: Vec<f64> = (0..64)
            .map(|round| if round % 13 == 0 { 90_000.0 } else { 500.0 })
            .collect();
        let clocks = Clocks::new(&references, 800.0, 2.0).unwrap();
        assert_eq!((clocks.least(), clocks.greatest()), (1.6, 1.6));
        assert!(Clocks::new(&references[..10], 800.0, 2.0).is_none());
        assert!(Clocks::new(&[0.0; 64], 800.0, 2.0).is_none());
    }
}
