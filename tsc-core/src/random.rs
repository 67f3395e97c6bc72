//! Pseudo-random numbers for orders and waiting times, so that nothing periodic stays in step with the measurement.

#![cfg(measuring)]

/// Marsaglia's xorshift generator with 64 bits of state ("Xorshift RNGs", Journal of Statistical Software 8, 2003).
pub(crate) struct Random(u64);

impl Random {
    /// Creates the generator with `seed`, which must not be 0.
    pub(crate) const fn new(seed: u64) -> Self {
        assert!(seed != 0, "this generator stays at 0 for ever");
        Self(seed)
    }

    /// The generator for the waits of a measurement.
    pub(crate) const fn for_waits() -> Self {
        Self::new(0x9e37_79b9_7f4a_7c15)
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Shuffles `order` (Fisher and Yates).
    #[cfg(feature = "instruments")]
    pub(crate) fn shuffle(&mut self, order: &mut [usize]) {
        for last in (1..order.len()).rev() {
            let other = (self.next() % (last as u64 + 1)) as usize;
            order.swap(last, other);
        }
    }

    /// Waits for a random time, so that what follows begins at any point between two steps of the counter. Otherwise work of certain lengths
    /// stays in step with a counter whose clock is a fraction of the core's, and its mean is off by up to a step.
    #[inline]
    pub(crate) fn wait(&mut self) {
        for turn in 0..self.turns() {
            core::hint::black_box(turn);
        }
    }

    /// The turns of a wait, each of about a core cycle: up to several steps of a counter of 100 MHz, because only a whole number of steps
    /// has each point equally often.
    fn turns(&mut self) -> u64 {
        self.next() & 255
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far the mean of a duration is off, as a share of the step, at most, if what is measured begins after a wait.
    fn bias_after_waits(cycles_per_step: f64) -> f64 {
        let mut random = Random::new(7);
        let begins: Vec<f64> = (0..20_000)
            .map(|_| random.turns() as f64 / cycles_per_step)
            .collect();
        let bias = |steps: f64| {
            let read = begins
                .iter()
                .map(|begin| (begin + steps).floor() - begin.floor());
            (read.sum::<f64>() / begins.len() as f64 - steps).abs()
        };
        (0..20)
            .map(|part| bias(30.0 + f64::from(part) / 20.0))
            .fold(0.0, f64::max)
    }

    #[test]
    fn waits_end_at_any_point_of_a_step() {
        // Cores of 2 to 6 GHz, and a counter that follows a clock of 100 MHz. The fraction keeps a step from being a whole number of
        // turns, which have no points between them.
        for cycles in 20..60 {
            let bias = bias_after_waits(f64::from(cycles) + 0.5);
            assert!(bias < 0.08, "{bias} at {cycles} cycles");
        }
    }

    #[cfg(feature = "instruments")]
    #[test]
    fn shuffled_order_has_every_index_once() {
        let mut random = Random::new(1);
        let mut order: Vec<usize> = (0..20).collect();
        random.shuffle(&mut order);
        assert_ne!(order, (0..20).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..20).collect::<Vec<_>>());
    }
}
