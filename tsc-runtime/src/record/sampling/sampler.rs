//! A thread's random numbers, and what counting a call costs on it.

use core::cell::Cell;

use crate::tsc::Ticks;

/// A thread's random numbers, and its cost of counting a call.
#[derive(Debug)]
pub(crate) struct Sampler {
    state: Cell<u64>,
    /// In ticks, with as many binary places as [`FRACTION`].
    exact_cost: Cell<u32>,
    /// The same in whole ticks, randomly rounded up or down so that the mean is right.
    cost: Cell<u64>,
    /// When the cost was measured.
    measured: Cell<Ticks>,
    /// A random bit pattern, drawn with the last random number.
    bits: Cell<u8>,
}

const FRACTION: u32 = 16;

impl Sampler {
    pub(crate) const fn new() -> Self {
        Self {
            state: Cell::new(0),
            exact_cost: Cell::new(0),
            cost: Cell::new(0),
            measured: Cell::new(0),
            bits: Cell::new(0),
        }
    }

    /// The cost of the next counted call for its callers.
    #[inline(always)]
    pub(crate) fn counted_cost(&self) -> u64 {
        self.cost.get()
    }

    /// The average cost, in ticks.
    pub(crate) fn set_counted_cost(&self, ticks: f64) {
        self.exact_cost
            .set((ticks * f64::from(1 << FRACTION)) as u32);
        self.cost.set(ticks.round() as u64);
    }

    /// Notes that the cost was measured at this time.
    pub(crate) fn set_measured(&self, now: Ticks) {
        self.measured.set(now);
    }

    /// Whether the last measurement of the cost is older than that.
    pub(crate) fn is_older_than(&self, ticks: Ticks, now: Ticks) -> bool {
        now.wrapping_sub(self.measured.get()) > ticks
    }

    /// True in one of 64 cases, at random: reading the clock before every timed call would take too long.
    pub(crate) fn is_sixty_fourth(&self) -> bool {
        self.bits.get() >> 2 == 0
    }

    /// Whether a sequence was begun.
    pub(crate) fn is_seeded(&self) -> bool {
        self.state.get() != 0
    }

    /// Starts the sequence of random numbers for `seed`.
    pub(crate) fn seed(&self, seed: u64) {
        // SplitMix64's finisher, so that the sequences of neighbouring seeds are unrelated. It returns 0 only for 0.
        let mut state = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.state.set((state ^ state >> 31).max(1));
    }

    /// The number of calls before the next timed one, if each is chosen with a probability of one in `every`.
    pub(super) fn failures(&self, every: u32) -> u32 {
        if every == 1 {
            return 0;
        }
        // Above 0 and not above 1.
        let share = f64::from(self.below(u32::MAX) + 1) / f64::from(u32::MAX);
        (share.ln() / (-1.0 / f64::from(every)).ln_1p()) as u32
    }

    /// True in one of four cases, at random. Stays the same until the next random number.
    pub(super) fn is_fourth(&self) -> bool {
        self.bits.get() & 3 == 0
    }

    /// A random number below `limit`. Also chooses the next counted cost.
    pub(super) fn below(&self, limit: u32) -> u32 {
        // xorshift64*: the high bits pass all tests.
        let mut state = self.state.get();
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        self.state.set(state);
        let random = state.wrapping_mul(0x2545_f491_4f6c_dd1d);
        self.bits.set((random >> 8) as u8);
        let fraction = random as u32 >> FRACTION;
        self.cost.set(u64::from(
            self.exact_cost.get().saturating_add(fraction) >> FRACTION,
        ));
        (((random >> 32) * u64::from(limit)) >> 32) as u32
    }
}
