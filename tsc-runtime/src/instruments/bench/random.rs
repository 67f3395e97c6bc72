//! Pseudo-random numbers for orders and waiting times, so that nothing periodic stays in step with the measurement.

/// Marsaglia's xorshift generator with 64 bits of state ("Xorshift RNGs", Journal of Statistical Software 8, 2003).
pub(crate) struct Random(u64);

impl Random {
    /// Creates the generator with `seed`, which must not be 0.
    pub(crate) const fn new(seed: u64) -> Self {
        assert!(seed != 0, "this generator stays at 0 for ever");
        Self(seed)
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number that is at least 0 and less than 1.
    #[cfg(test)]
    pub(crate) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Shuffles `order` (Fisher and Yates).
    pub(crate) fn shuffle(&mut self, order: &mut [usize]) {
        for last in (1..order.len()).rev() {
            let other = (self.next() % (last as u64 + 1)) as usize;
            order.swap(last, other);
        }
    }

    /// Waits for up to 63 iterations of a loop, so that samples begin at any point between two steps of the counter. Without the wait, work
    /// of certain lengths would stay in step with a counter whose clock is a fraction of the core's, and its mean would be off by up to a
    /// step.
    #[inline]
    pub(crate) fn wait(&mut self) {
        for turn in 0..self.next() & 63 {
            core::hint::black_box(turn);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
