//! The choice of the calls of a sampled callsite that are timed, and what the timed calls stand for.
//!
//! The calls are divided into groups of N. In each group one call is timed, chosen at random for each group anew, so that periodic
//! behaviour cannot hide, and every call has the same chance. A timed call has the weight N. So the weights of all timed calls add up to
//! the number of calls, except in an incomplete group. If a function calls itself, each of its calls is chosen independently; otherwise it
//! would depend on a timed call which of the calls inside it are timed.
//!
//! Nested sums are kept as running sums. A timed call adds N times the part that is not inside other calls: to the thread's net ticks its
//! self time, and to the callsite's inclusive ticks the part outside of inner activations. The timed calls inside it have added their
//! parts, N times each, which on average is the time of all calls inside it. So the increase of a sum during a call is an unbiased estimate
//! of the time inside the call, however deep calls nest and whichever of them were timed. The increases of all calls together are exactly
//! the outermost call's time, if that call has the weight 1.

use core::cell::Cell;

use super::Record;
use super::counters::Count;
use crate::record::thread::{self, Thread};
use crate::record::totals::Totals;
use crate::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The largest N.
pub(crate) const MOST: u32 = 4096;

/// How often a callsite is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    EveryCall,
    /// One call in this many.
    OneIn(u32),
    /// As often as the limit for the time spent in probes permits.
    Auto,
}

/// The additional state in the record of a sampled callsite.
#[derive(Debug)]
pub(crate) struct Sampling {
    /// The N of the group of the next timed call; 0 if every call is timed.
    every: AtomicU32,
    /// The number of calls in this group after the timed one.
    rest: Cell<u32>,
    /// Whether the function has called itself. Then there are no groups any more.
    is_recursive: Cell<bool>,
    /// The weighted inclusive ticks, net and raw, of all activations that are not inside another one. A reset does not clear them, because
    /// running activations have saved their values.
    included: Cell<[i64; 2]>,
    /// `None` where N is fixed.
    auto: Cell<Option<Observed>>,
    /// The rounded cost of a timed call for its callers: of a call with weight 1, and of any other.
    pub(crate) cost: [Count; 2],
}

/// The observations of `auto` since it last adjusted N.
#[derive(Clone, Copy, Debug)]
struct Observed {
    calls: u32,
    net: i64,
}

/// The number of timed calls after which `auto` adjusts N.
const OBSERVED: u32 = 32;
/// The largest share of the measured time that probes may take.
const SHARE: i64 = 5;
/// The cost of a timed call, divided by its weight, may be as large as this part of the cost of counting a call.
const OF_COUNTED: u64 = 8;

impl Sampling {
    pub(super) const fn new() -> Self {
        Self {
            every: AtomicU32::new(0),
            rest: Cell::new(0),
            is_recursive: Cell::new(false),
            included: Cell::new([0; 2]),
            auto: Cell::new(None),
            cost: [const { Count::new() }; 2],
        }
    }

    /// N, if not every call is timed.
    pub(crate) fn every(&self) -> Option<u32> {
        Some(self.every.load(Relaxed)).filter(|&every| every != 0)
    }

    /// The cost of a timed call of this weight for its callers.
    pub(crate) fn cost_of(&self, weight: u32) -> u64 {
        self.cost[usize::from(weight > 1)].get()
    }

    /// Adjusts N according to the last timed calls.
    fn next_every(&self, counted_cost: u64) -> u32 {
        let every = self.every.load(Relaxed);
        let Some(seen) = self.auto.get().filter(|seen| seen.calls >= OBSERVED) else {
            return every;
        };
        self.auto.set(Some(Observed { calls: 0, net: 0 }));
        let cost = self.cost[1].get();
        let mean = (seen.net / i64::from(seen.calls)).max(1).cast_unsigned();
        let needed = (cost * SHARE.cast_unsigned() / mean)
            .min(cost * OF_COUNTED / counted_cost.max(1))
            .clamp(1, u64::from(MOST));
        let needed = (needed as u32).next_power_of_two();
        // N is lowered by at most a factor of four at a time, and not for a factor of two, because the mean of a few calls is not more
        // exact than that.
        let next = if needed >= every {
            needed
        } else if needed * 4 <= every {
            every / 4
        } else {
            every
        };
        self.every.store(next, Relaxed);
        next
    }
}

/// The ticks of one activation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    pub(crate) net: i64,
    pub(crate) raw: i64,
    /// Net, outside annotated callees.
    pub(crate) own: i64,
}

impl Record {
    /// Sets how calls are timed from now on.
    pub(crate) fn set_mode(&self, mode: Mode) {
        let every = match mode {
            Mode::EveryCall => return self.entry().set_skip(0),
            Mode::OneIn(every) => every,
            Mode::Auto => {
                let seen = Observed { calls: 0, net: 0 };
                self.sampling.auto.set(Some(seen));
                1
            }
        };
        self.sampling.every.store(every, Relaxed);
        self.sampling.rest.set(0);
        self.begin_group(&thread::this().sampler, every);
    }

    /// Starts a new group of `every` calls after the rest of the previous one, and chooses which call is timed.
    fn begin_group(&self, sampler: &Sampler, every: u32) {
        let sampling = &self.sampling;
        if self.is_running() {
            sampling.is_recursive.set(true);
        }
        let (place, rest) = if sampling.is_recursive.get() {
            (sampler.failures(every), 0)
        } else {
            let place = sampler.below(every);
            (place, every - 1 - place)
        };
        let counted = sampling.rest.replace(rest) + place;
        self.open();
        self.counters.counted.add(u64::from(counted));
        self.entry().set_skip(counted + 1);
        self.close();
    }

    /// Called before a call that is timed: chooses the next one. Returns the weight of this one.
    pub(crate) fn draw(&self, thread: &Thread) -> u32 {
        let weight = self.sampling.every.load(Relaxed);
        let every = self.sampling.next_every(thread.sampler.counted_cost());
        self.begin_group(&thread.sampler, every);
        weight
    }

    /// Brings the figures of a sampled callsite into the form of all others: its weighted sums are the difference between the sums over all
    /// calls and those over inner calls.
    pub(super) fn settle_sampled(&self, totals: &mut Totals) {
        let Some(every) = self.sampling.every() else {
            return;
        };
        totals.sample = every;
        totals.counted = totals.counted.wrapping_sub(self.announced());
        totals.polls_gross = if totals.polls == 0 {
            // A report subtracts weighted ticks, so what is left of the polls' own sum would be meaningless.
            0
        } else {
            // The weighted sum, unlike the sum over the calls that have completed.
            totals.included.wrapping_add(totals.visible)
        };
        let gross = totals.sum + totals.first_sum + totals.excluded_sum;
        let gross = if totals.polls == 0 {
            gross
        } else {
            totals.polls_gross
        };
        let net = gross.wrapping_sub(totals.visible);
        totals.callees = net.wrapping_sub(totals.own);
        (totals.inner, totals.inner_visible) = (0, 0);
        totals.inner_gross = net.wrapping_sub(totals.included);
        let raw = totals
            .included
            .wrapping_add(totals.visible)
            .wrapping_add(totals.nested);
        totals.inner_nested = raw.wrapping_sub(totals.included_raw);
    }

    /// Calls that were already added, but have not come yet. They will only be counted.
    pub(super) fn announced(&self) -> u64 {
        u64::from(self.entry().skip().saturating_sub(1))
    }

    /// Takes back a counted call that is the first poll of a future. A future counts as a call when it completes.
    pub(crate) fn uncount(&self) {
        // A reader that has read the skip from before the count must not read this value.
        self.open();
        self.counters.counted.add(u64::MAX);
        self.close();
    }

    /// Counts a future that completes and was not timed.
    pub(crate) fn count_future(&self) {
        self.counters.counted.add(1);
    }

    /// The running sums of inclusive ticks, net and raw.
    pub(crate) fn included(&self) -> [i64; 2] {
        self.sampling.included.get()
    }

    /// Called when a timed activation stops: adds it to the nested sums. `then` has the inclusive sums at its start. Returns the self ticks
    /// of all calls that it stands for.
    ///
    /// The ticks of an interrupted call that is not repaired are too uncertain to stand for other calls. It stands for itself alone, and
    /// the other calls are represented by the average.
    pub(crate) fn include(
        &self,
        then: [i64; 2],
        weight: u32,
        ticks: Ticks,
        is_excluded: bool,
    ) -> i64 {
        let counters = &self.counters;
        let known = counters.weights.get().cast_signed();
        let stands_for = |ticks: i64, sum: i64| {
            if is_excluded && known != 0 {
                ticks.wrapping_add(i64::from(weight - 1).wrapping_mul(sum / known))
            } else {
                ticks.wrapping_mul(i64::from(weight))
            }
        };
        let mut sums = self.sampling.included.get();
        let figures = [
            (&counters.included, ticks.net),
            (&counters.included_raw, ticks.raw),
        ];
        for ((sum, then), (figure, ticks)) in sums.iter_mut().zip(then).zip(figures) {
            let inside = sum.wrapping_sub(then);
            let more = stands_for(ticks.wrapping_sub(inside), figure.get());
            *sum = sum.wrapping_add(more);
            figure.add(more);
        }
        self.sampling.included.set(sums);
        let excess = f64::from(weight) * f64::from(weight - 1);
        let own = ticks.own as f64;
        counters.own_excess_sum.add(excess * own);
        counters.own_excess_squares.add(excess * own * own);
        let own = stands_for(ticks.own, counters.own.get());
        counters.own.add(own);
        counters.weights.add(u64::from(weight));
        own
    }

    /// Called when a timed activation stops that is an ordinary sample.
    pub(crate) fn leave_weighted(&self, gross: u64, weight: u32) {
        self.entry().leave();
        self.add_weighted(gross, weight);
    }

    /// The same, if it is unknown whether it was interrupted.
    pub(crate) fn leave_unknown(&self, gross: u64, weight: u32) {
        self.entry().leave();
        self.add_unknown(gross, weight);
    }

    pub(super) fn add_weighted(&self, gross: u64, weight: u32) {
        if weight > 1 {
            self.fold_weighted(gross.cast_signed(), weight);
        } else {
            self.add_sample(gross);
        }
    }

    /// The variance of a timed call's self ticks that results from sampled callees.
    pub(crate) fn add_variance(&self, weight: u32, variance: f64) {
        self.counters.own_variance.add(f64::from(weight) * variance);
    }

    /// Tells `auto` the ticks of a timed call.
    pub(crate) fn observe(&self, net: i64) {
        let auto = &self.sampling.auto;
        if let Some(seen) = auto.get() {
            auto.set(Some(Observed {
                calls: seen.calls.saturating_add(1),
                net: seen.net.saturating_add(net),
            }));
        }
    }
}

/// A thread's random numbers, and its cost of counting a call.
#[derive(Debug)]
pub(crate) struct Sampler {
    state: Cell<u64>,
    /// In ticks, with as many binary places as [`FRACTION`].
    exact_cost: Cell<u32>,
    /// The same in whole ticks, randomly rounded up or down so that the mean is right.
    cost: Cell<u64>,
}

const FRACTION: u32 = 16;

impl Sampler {
    pub(super) const fn new() -> Self {
        Self {
            state: Cell::new(0),
            exact_cost: Cell::new(0),
            cost: Cell::new(0),
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
    fn failures(&self, every: u32) -> u32 {
        if every == 1 {
            return 0;
        }
        // Above 0 and not above 1.
        let share = f64::from(self.below(u32::MAX) + 1) / f64::from(u32::MAX);
        (share.ln() / (-1.0 / f64::from(every)).ln_1p()) as u32
    }

    /// A random number below `limit`. Also chooses the next counted cost.
    fn below(&self, limit: u32) -> u32 {
        // xorshift64*: the high bits pass all tests.
        let mut state = self.state.get();
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        self.state.set(state);
        let random = state.wrapping_mul(0x2545_f491_4f6c_dd1d);
        let fraction = random as u32 >> FRACTION;
        self.cost.set(u64::from(
            self.exact_cost.get().saturating_add(fraction) >> FRACTION,
        ));
        (((random >> 32) * u64::from(limit)) >> 32) as u32
    }
}
