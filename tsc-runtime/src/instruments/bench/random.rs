//! Pseudo-random numbers, for orders and waits that nothing periodic can keep in step with.

/// Marsaglia's xorshift generator with 64 bits of state ("Xorshift RNGs", Journal of Statistical Software 8, 2003).
pub(crate) struct Random(u64);

impl Random {
    /// The generator that begins with `seed`, which must not be 0.
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

    /// From 0 to below 1.
    #[cfg(test)]
    pub(crate) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Puts `order` into a random one, as Fisher and Yates do.
    pub(crate) fn shuffle(&mut self, order: &mut [usize]) {
        for last in (1..order.len()).rev() {
            let other = (self.next() % (last as u64 + 1)) as usize;
            order.swap(last, other);
        }
    }

    /// Waits for up to 63 turns of a loop, so that samples begin anywhere in the counter's step. Without it work of just the right
    /// length keeps in step with a counter whose clock is a fraction of the core's, and its mean is off by up to a step.
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
