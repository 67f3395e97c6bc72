//! How `auto` chooses N.

/// The largest N.
pub(crate) const MOST: u32 = 4096;

/// From this N on, the call before a timed one is a warm-up. Below, the last timed call was short ago.
const WARM_UP_FROM: u32 = 8;
/// A call with at least this many timed callees needs no warm-up: the first ones warm up for the others.
const MANY_CALLEES: f64 = 8.0;

/// Whether the call before a timed one is a warm-up, where timed calls have so many callees on average.
pub(super) fn has_warm_up(every: u32, callees: f64) -> bool {
    every >= WARM_UP_FROM && callees < MANY_CALLEES
}

/// The number of timed calls after which N is adjusted.
const OBSERVED: u32 = 32;
/// N is raised while timing takes more than one part in this many of the self ticks that it stands for. What timing costs in a program is
/// known to a third, and the error of each function is part of the totals of all functions around it.
const OF_OWN: f64 = 20.0;
/// Every call is timed while this takes at most one part in this many of the calls' net ticks.
const OF_NET: f64 = 1000.0;
/// N is not raised further when timing takes less than one part in this many of what counting the calls takes.
const OF_COUNTED: f64 = 8.0;

/// The timed calls since N was last adjusted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observed {
    calls: u32,
    net: i64,
    own: i64,
    /// The calls that were timed for the self ticks of these.
    callees: u64,
}

impl Observed {
    pub(super) const NOTHING: Self = Self {
        calls: 0,
        net: 0,
        own: 0,
        callees: 0,
    };

    pub(super) fn add(self, net: i64, own: i64, callees: u32) -> Self {
        Self {
            calls: self.calls.saturating_add(1),
            net: self.net.saturating_add(net),
            own: self.own.saturating_add(own),
            callees: self.callees.saturating_add(u64::from(callees)),
        }
    }

    pub(super) fn is_enough(self) -> bool {
        self.calls >= OBSERVED
    }

    /// The N that follows `every`. Timing a call costs its callers `cost` ticks, and counting it `counted_cost`.
    ///
    /// N is lowered by at most a factor of four at a time, and not for a factor of two, because the mean of a few calls is not more exact
    /// than that.
    pub(super) fn next_every(self, every: u32, cost: u64, counted_cost: u64) -> u32 {
        let needed = self.needed(cost as f64, counted_cost as f64);
        if needed >= every {
            needed
        } else if needed * 4 <= every {
            every / 4
        } else {
            every
        }
    }

    fn needed(self, cost: f64, counted_cost: f64) -> u32 {
        let mean = |sum: i64| (sum as f64 / f64::from(self.calls)).max(1.0);
        // If N is 1, the callees are not timed for this call.
        let callees = self.callees as f64 / f64::from(self.calls);
        let timing = cost * (1.0 + callees);
        let every = (OF_OWN * timing / mean(self.own))
            .min(OF_NET * cost / mean(self.net))
            .min(OF_COUNTED * timing / counted_cost.max(1.0))
            .clamp(1.0, f64::from(MOST));
        let every = (every as u32).next_power_of_two();
        // A warm-up costs as much as a timed call.
        if has_warm_up(every, callees) {
            (2 * every).min(MOST)
        } else {
            every
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COST: u64 = 100;
    const COUNTED: u64 = 10;

    fn observed(net: i64, own: i64, callees: u32) -> Observed {
        (0..OBSERVED).fold(Observed::NOTHING, |seen, _| seen.add(net, own, callees))
    }

    #[test]
    fn short_calls_are_timed_rarely_and_long_ones_always() {
        assert!(observed(50, 50, 0).is_enough());
        let first = |net, own, callees| observed(net, own, callees).next_every(1, COST, COUNTED);
        assert_eq!(first(50, 50, 0), 128);
        assert_eq!(first(1, 1, 0), 256);
        assert_eq!(first(2_000, 2_000, 0), 1);
        // Long calls that themselves do little.
        assert_eq!(first(200_000, 10, 1_000), 1);
        assert_eq!(first(10_000, 1_000, 99), 16);
        assert_eq!(first(10_000, 1_000, 7), 32);
        assert_eq!(first(500, 500, 0), 4);
        assert_eq!(first(1, -1_000_000, u32::MAX), MOST);
    }

    #[test]
    fn longer_calls_lower_n_step_by_step() {
        let long = observed(100_000, 100_000, 0);
        assert_eq!(long.next_every(64, COST, COUNTED), 16);
        assert_eq!(long.next_every(2, COST, COUNTED), 2);
        assert_eq!(long.next_every(1, COST, COUNTED), 1);
    }
}
