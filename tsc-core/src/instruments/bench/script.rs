//! A simulated counter that advances in steps, for tests.

use crate::random::Random;

impl Random {
    /// A number from 0 to 1.
    pub(crate) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A counter, and a core with a clock.
pub(crate) struct Scripted {
    step: f64,
    /// Whether some steps are taken in two parts, of which the second is one tick.
    splits: bool,
    pub(crate) cycles_per_tick: f64,
    random: Random,
}

impl Scripted {
    /// The counters of a Xeon, in steps of 2, and of two EPYCs: in steps of 26 of which some are split into 25 and 1, and of 24 and 25 in turn.
    pub(crate) fn each(seed: u64) -> [Self; 3] {
        let counter = |step, splits, cycles_per_tick| Self {
            step,
            splits,
            cycles_per_tick,
            random: Random::new(seed),
        };
        [
            counter(2.0, false, 1.62),
            counter(26.0, true, 37.0 / 26.0),
            counter(24.5, false, 32.5 / 24.5),
        ]
    }

    pub(crate) fn step(&self) -> u64 {
        self.step.ceil() as u64
    }

    /// The difference of two readings that are `cycles` core cycles apart. The first one is at any point of a step.
    pub(crate) fn ticks(&mut self, cycles: f64) -> i64 {
        let begin = self.random.share() * self.step;
        self.reading(begin + cycles / self.cycles_per_tick) - self.reading(begin)
    }

    fn reading(&self, time: f64) -> i64 {
        let steps = (time / self.step).floor();
        let is_split = self.splits && time - steps * self.step > 0.95 * self.step;
        (steps * self.step) as i64 + if is_split { self.step as i64 - 1 } else { 0 }
    }
}
