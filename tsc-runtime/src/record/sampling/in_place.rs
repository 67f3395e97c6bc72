//! What timing a call costs in the program, above the calibrated cost: code and data of the probes compete with the program's for caches and
//! predictors, and the fences end the overlap of a function with its surroundings.
//!
//! While a call runs that stands for several, either all calls that it makes are timed, or, in one of four chosen at random, they are left
//! to their turn. The calls of the two groups are otherwise alike, and the calibrated cost is subtracted from both. So the difference
//! between the groups' mean times, divided by the mean number of callees, is what timing a callee costs above the calibrated cost.
//!
//! The differences of all callsites are combined, each weighted with the information that it contains. The sums are those of the process,
//! not of a thread, because they describe the program, as the calibration describes the machine.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Calls of each group that are needed before their variance says how exact the mean is.
const FEW: f64 = 16.0;
/// The groups are compared again after this many calls.
const OFTEN: f64 = 32.0;
/// An estimate with a larger standard error, in ticks, says nothing about a cost of some tens of ticks.
const MOST_ERROR: f64 = 10.0;
/// A deviation below this, in ticks, may be chance.
const LEAST_DEVIATION: f64 = 4.0;

/// Calls of a callsite.
#[derive(Clone, Copy, Debug)]
struct Group {
    calls: f64,
    sum: f64,
    squares: f64,
    /// Callees that were timed for these calls.
    callees: f64,
}

impl Group {
    const NOTHING: Self = Self {
        calls: 0.0,
        sum: 0.0,
        squares: 0.0,
        callees: 0.0,
    };

    fn add(&mut self, ticks: f64, callees: f64) {
        self.calls += 1.0;
        self.sum += ticks;
        self.squares += ticks * ticks;
        self.callees += callees;
    }

    fn mean(self) -> f64 {
        self.sum / self.calls
    }

    /// The variance of the mean.
    fn variance(self) -> f64 {
        let variance = self.squares / self.calls - self.mean() * self.mean();
        variance.max(LEAST_DEVIATION * LEAST_DEVIATION) / (self.calls - 1.0)
    }
}

/// What is known of the cost in place: the sum of the estimates, each multiplied by its information, and the sum of the information. The
/// information is the reciprocal of the variance.
#[derive(Clone, Copy, Debug)]
struct Known {
    product: f64,
    information: f64,
}

/// The calls of one callsite on one thread that stand for several.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comparison {
    with_timed: Group,
    without: Group,
    /// What these calls have contributed to the sums of the process.
    contributed: Known,
}

impl Comparison {
    pub(super) const NOTHING: Self = Self {
        with_timed: Group::NOTHING,
        without: Group::NOTHING,
        contributed: Known {
            product: 0.0,
            information: 0.0,
        },
    };

    /// Whether calls of the callsite may be left without timed callees: only if they have callees.
    pub(super) fn is_useful(&self) -> bool {
        self.with_timed.callees != 0.0
    }

    /// The mean number of timed callees of calls whose callees are all timed.
    pub(super) fn callees(&self) -> f64 {
        self.with_timed.callees / self.with_timed.calls.max(1.0)
    }

    /// Adds a call that took `ticks`, of whose callees so many were timed.
    pub(super) fn add(&mut self, ticks: i64, is_with_timed: bool, callees: u32) {
        let group = if is_with_timed {
            &mut self.with_timed
        } else {
            &mut self.without
        };
        group.add(ticks as f64, f64::from(callees));
        let (one, other) = (self.with_timed.calls, self.without.calls);
        if one >= FEW && other >= FEW && (one + other) % OFTEN == 0.0 {
            let known = self.known();
            contribute(self.contributed, known);
            self.contributed = known;
        }
    }

    fn known(&self) -> Known {
        let (one, other) = (self.with_timed, self.without);
        let callees = one.callees / one.calls;
        let information = callees / (one.variance() + other.variance());
        Known {
            product: (one.mean() - other.mean()) * information,
            information: callees * information,
        }
    }
}

/// [`Known`] of the process: the bits of two `f64`.
static KNOWN: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

fn contribute(then: Known, now: Known) {
    let more = [
        now.product - then.product,
        now.information - then.information,
    ];
    for (sum, more) in KNOWN.iter().zip(more) {
        let add = |bits| Some((f64::from_bits(bits) + more).to_bits());
        let _ = sum.fetch_update(Relaxed, Relaxed, add);
    }
}

/// The ticks that timing a call costs above the calibrated cost, and the standard error. `None` if the program has not shown it.
pub(crate) fn excess() -> Option<(f64, f64)> {
    let [product, information] = [0, 1].map(|index| f64::from_bits(KNOWN[index].load(Relaxed)));
    let error = information.sqrt().recip();
    (error <= MOST_ERROR).then(|| (product / information, error))
}

/// Forgets everything, in the child of a fork.
#[cfg(all(unix, not(miri)))] // no process is forked elsewhere
pub(crate) fn start_from_zero() {
    KNOWN.iter().for_each(|sum| sum.store(0, Relaxed));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls of 1000 ticks and a bit, with 3 callees, each of which costs 20 ticks more if it is timed.
    #[test]
    fn difference_is_what_timing_a_callee_costs() {
        let mut comparison = Comparison::NOTHING;
        assert!(!comparison.is_useful());
        for call in 0..4_000_u32 {
            let noise = i64::from(call.wrapping_mul(2_654_435_761) >> 24);
            let is_with_timed = call % 4 != 0;
            let (callees, more) = if is_with_timed { (3, 60) } else { (0, 0) };
            comparison.add(1_000 + noise + more, is_with_timed, callees);
        }
        assert!(comparison.is_useful());
        let Known {
            product,
            information,
        } = comparison.contributed;
        let (excess, error) = (product / information, information.sqrt().recip());
        assert!((excess - 20.0).abs() < 3.0 * error, "{excess} ± {error}");
        // The noise has a deviation of 74 ticks, in 3000 and in 1000 calls.
        let expected = 74.0 * (1.0_f64 / 3_000.0 + 1.0 / 1_000.0).sqrt() / 3.0;
        assert!((error / expected - 1.0).abs() < 0.05, "{error}, {expected}");
    }

    #[test]
    fn few_calls_show_nothing() {
        let mut comparison = Comparison::NOTHING;
        for call in 0..31 {
            comparison.add(1_000, call % 2 == 0, 1);
        }
        assert_eq!(comparison.contributed.information, 0.0);
    }
}
