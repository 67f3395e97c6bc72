//! The choice of the calls of a sampled callsite that are timed, and what the timed calls stand for.
//!
//! The calls are divided into groups of N. In each group one call is timed, chosen at random for each group anew, so that periodic
//! behaviour cannot hide, and every call has the same chance. A timed call has the weight N. So the weights of all timed calls add up to
//! the number of calls, except in an incomplete group. So that this group is never a large part of all calls, a group has at most a quarter
//! as many calls as those before it. If a function calls itself, each of its calls is chosen independently; otherwise it would depend on a
//! timed call which of the calls inside it are timed.
//!
//! Nested sums are kept as running sums. A timed call adds N times the part that is not inside other calls: to the thread's net ticks its
//! self time, and to the callsite's inclusive ticks the part outside of inner activations. The timed calls inside it have added their
//! parts, N times each, which on average is the time of all calls inside it. So the increase of a sum during a call is an unbiased estimate
//! of the time inside the call, however deep calls nest and whichever of them were timed. The increases of all calls together are exactly
//! the outermost call's time, if that call has the weight 1.
//!
//! An estimate is not good enough for the self time of a call with a weight above 1: its error would be multiplied by the weight, and again
//! in each call around it. So the calls that such a call makes itself are all timed. If it is not their turn, they have the weight 0: they
//! are no samples, and what they call is counted or timed as usual. When such a callee stops, it adds the difference between its time and
//! the estimate to the running sum, so that the increase is its time, and the caller's self time is no estimate. The caller subtracts these
//! [additions](Caller) when it stops, because its own callers need the estimate, which stands for the calls that are only counted.
//!
//! The call before a timed one is a warm-up if N is not small and calls have few callees: it and the calls that it makes are timed in the
//! same way, and recorded nowhere. Otherwise the timed call would find code and data of the timing out of the caches and its branches
//! mispredicted. This cost some 20 ticks for each call that a timed call makes, and now some 5 (EPYC, Zen 4, 2.6 GHz).
//!
//! One in four of these calls, if they have callees, leaves its callees to their turn. [`in_place`] needs it for a comparison. Its self time
//! is then unknown, and the mean of the others takes its place.

use core::cell::Cell;

mod auto;
pub(crate) mod in_place;
mod innermost;
mod sampler;
#[cfg(test)]
mod tests;

pub(crate) use self::auto::MOST;
use self::auto::Observed;
use self::in_place::Comparison;
pub(crate) use self::innermost::{Caller, Innermost};
pub(crate) use self::sampler::Sampler;
use super::Record;
use super::counters::Count;
use crate::record::thread::{self, Thread};
use crate::record::totals::Totals;
use crate::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The square of the range of a sum of ticks: if the error of a sum is so large, nothing is known of it.
const MOST_VARIANCE: f64 = (1_u128 << 64) as f64 * (1_u128 << 64) as f64;

/// A group has at most one in this many of the calls before it. Otherwise, of a function that is called a few times, the timed calls would
/// rarely stand for all calls.
const PART: u64 = 4;

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
    /// The N that was chosen. Groups become as large when there were enough calls.
    chosen: Cell<u32>,
    /// The calls in all groups until now.
    grouped: Cell<u64>,
    /// The number of calls in this group after the timed one.
    rest: Cell<u32>,
    /// Whether the function has called itself. Then there are no groups any more.
    is_recursive: Cell<bool>,
    /// The weighted inclusive ticks, net and raw, of all activations that are not inside another one. A reset does not clear them, because
    /// running activations have saved their values.
    included: Cell<[i64; 2]>,
    /// The variance of the net ones, kept in the same way.
    included_variance: Cell<f64>,
    /// `None` where N is fixed.
    auto: Cell<Option<Observed>>,
    comparison: Cell<Comparison>,
    /// The rounded cost of a timed call for its callers: with weight 1, and with a greater one.
    pub(crate) cost: [Count; 2],
}

impl Sampling {
    pub(super) const fn new() -> Self {
        Self {
            every: AtomicU32::new(0),
            chosen: Cell::new(0),
            grouped: Cell::new(0),
            rest: Cell::new(0),
            is_recursive: Cell::new(false),
            included: Cell::new([0; 2]),
            included_variance: Cell::new(0.0),
            auto: Cell::new(None),
            comparison: Cell::new(Comparison::NOTHING),
            cost: [const { Count::new() }; 2],
        }
    }

    /// N, if not every call is timed.
    pub(crate) fn every(&self) -> Option<u32> {
        Some(self.every.load(Relaxed)).filter(|&every| every != 0)
    }

    /// Whether the call before a timed one is a warm-up.
    pub(crate) fn has_warm_up(&self) -> bool {
        auto::has_warm_up(self.every.load(Relaxed), self.comparison.get().callees())
    }

    /// Adjusts N according to the last timed calls.
    fn adjust(&self, counted_cost: u64) {
        let Some(seen) = self.auto.get().filter(|seen| seen.is_enough()) else {
            return;
        };
        self.auto.set(Some(Observed::NOTHING));
        let every = self.every.load(Relaxed);
        let next = seen.next_every(every, self.cost[1].get(), counted_cost);
        self.chosen.set(next);
    }

    /// The N of the next group.
    fn next_every(&self) -> u32 {
        let grouped = self.grouped.get();
        let most = (grouped / PART).clamp(1, u64::from(MOST)) as u32;
        let every = self.chosen.get().min(1 << most.ilog2());
        self.grouped.set(grouped + u64::from(every));
        self.every.store(every, Relaxed);
        every
    }
}

/// The ticks of one activation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    pub(crate) net: i64,
    pub(crate) raw: i64,
    /// Net, outside annotated callees.
    pub(crate) own: i64,
    /// False if `own` is an estimate whose error the weight would multiply.
    pub(crate) is_own_known: bool,
}

/// The running sums of a callsite's inclusive ticks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Included {
    /// Net and raw.
    ticks: [i64; 2],
    /// The variance of the net ones.
    variance: f64,
}

impl Included {
    pub(crate) const fn net(self) -> i64 {
        self.ticks[0]
    }
}

impl Record {
    /// Sets how calls are timed from now on.
    pub(crate) fn set_mode(&self, mode: Mode) {
        let every = match mode {
            Mode::EveryCall => return self.entry().set_skip(0),
            Mode::OneIn(every) => every,
            Mode::Auto => {
                self.sampling.auto.set(Some(Observed::NOTHING));
                1
            }
        };
        self.sampling.chosen.set(every);
        self.sampling.rest.set(0);
        self.begin_group(&thread::this().sampler);
    }

    /// Makes the groups as large as was chosen from now on, as after many calls.
    pub(crate) fn skip_small_groups(&self) {
        self.sampling.grouped.set(PART * u64::from(MOST));
    }

    /// Starts a new group after the rest of the previous one, and chooses which call is timed.
    fn begin_group(&self, sampler: &Sampler) {
        let sampling = &self.sampling;
        let every = sampling.next_every();
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
        self.sampling.adjust(thread.sampler.counted_cost());
        self.begin_group(&thread.sampler);
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

    /// The cost of a timed call of this weight for its callers.
    pub(crate) fn cost_of(&self, weight: u32) -> u64 {
        match weight {
            0 => self.for_caller.get(),
            1 => self.sampling.cost[0].get(),
            _ => self.sampling.cost[1].get(),
        }
    }

    /// The running sums of inclusive ticks.
    pub(crate) fn included(&self) -> Included {
        Included {
            ticks: self.sampling.included.get(),
            variance: self.sampling.included_variance.get(),
        }
    }

    /// Called when a timed activation stops: adds it to the nested sums. `then` has the inclusive sums at its start. Returns the self ticks
    /// of all calls that it stands for.
    ///
    /// The ticks of an interrupted call that is not repaired are too uncertain to stand for other calls. It stands for itself alone, and
    /// the other calls are represented by the average.
    pub(crate) fn include(
        &self,
        then: Included,
        weight: u32,
        ticks: Ticks,
        is_excluded: bool,
    ) -> i64 {
        let counters = &self.counters;
        let known = counters.weights.get();
        let mean_of =
            |calls: u32, sum: i64| (sum as f64 / known as f64 * f64::from(calls)).round() as i64;
        let stands_for = |ticks: i64, sum: i64| {
            if is_excluded && known != 0 {
                ticks.wrapping_add(mean_of(weight - 1, sum))
            } else {
                ticks.wrapping_mul(i64::from(weight))
            }
        };
        let mut sums = self.sampling.included.get();
        let figures = [
            (&counters.included, ticks.net),
            (&counters.included_raw, ticks.raw),
        ];
        for ((sum, then), (figure, ticks)) in sums.iter_mut().zip(then.ticks).zip(figures) {
            let inside = sum.wrapping_sub(then);
            let more = stands_for(ticks.wrapping_sub(inside), figure.get());
            *sum = sum.wrapping_add(more);
            figure.add(more);
        }
        self.sampling.included.set(sums);
        let is_one = is_excluded && known != 0;
        self.include_variance(then.variance, if is_one { 1 } else { weight }, ticks.net);
        let own = if ticks.is_own_known || known == 0 {
            let weight = self.weight_of_own(weight);
            let (excess, own) = (weight * (weight - 1.0), ticks.own as f64);
            counters.own_excess_sum.add(excess * own);
            counters.own_excess_squares.add(excess * own * own);
            stands_for(ticks.own, counters.own.get())
        } else {
            mean_of(weight, counters.own.get())
        };
        counters.own.add(own);
        counters.weights.add(u64::from(weight));
        own
    }

    /// The time of a call that stands for itself alone is known, whatever was estimated inside it. A call that stands for several is
    /// multiplied by the weight, and so is the error of the part that is inside further activations.
    fn include_variance(&self, then: f64, weight: u32, net: i64) {
        let now = self.sampling.included_variance.get();
        let (others, net) = (f64::from(weight - 1), net as f64);
        let inside = now - then;
        let variance = then + others * others * inside + others * (others + 1.0) * net * net;
        let variance = variance.min(MOST_VARIANCE);
        self.sampling.included_variance.set(variance);
        self.counters.included_variance.add(variance - now);
    }

    /// Whether all calls are timed that a call of this weight makes. If it stands for several, its own self ticks are then known.
    pub(crate) fn times_callees(&self, weight: u32, sampler: &Sampler) -> bool {
        weight > 1 && !(self.sampling.comparison.get().is_useful() && sampler.is_fourth())
    }

    /// The weight that a call's known self ticks have: one call in four stands for several and has none.
    pub(crate) fn weight_of_own(&self, weight: u32) -> f64 {
        let is_one_unknown = weight > 1 && self.sampling.comparison.get().is_useful();
        f64::from(weight) * if is_one_unknown { 4.0 / 3.0 } else { 1.0 }
    }

    /// Adds a call that stands for several to the estimate of what timing a call costs in place.
    pub(crate) fn compare(&self, net: i64, this: Caller) {
        let mut comparison = self.sampling.comparison.get();
        comparison.add(net, this.times_callees(), this.callees);
        self.sampling.comparison.set(comparison);
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
    pub(crate) fn add_variance(&self, variance: f64) {
        self.counters.own_variance.add(variance);
    }

    /// The self ticks of all calls, as estimated so far.
    pub(crate) fn own(&self) -> i64 {
        self.counters.own.get()
    }

    /// Tells `auto` the ticks of a timed call, and how many calls were timed for its self ticks.
    pub(crate) fn observe(&self, net: i64, own: i64, callees: u32) {
        let auto = &self.sampling.auto;
        if let Some(seen) = auto.get() {
            auto.set(Some(seen.add(net, own, callees)));
        }
    }
}
