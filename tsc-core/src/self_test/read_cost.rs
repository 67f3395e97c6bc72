//! The counter's step, and what an empty pair of reads costs with each fence policy.

use std::hint::black_box;

use super::trap::{TRAPPED_TICKS, trap};
use super::{Finding, doubtful, good};
use crate::calibration::statistics::median;
use crate::calibration::{self, resolution};
use crate::tsc::fence_policy::*;
use crate::tsc::{self, Ticks, clock, elapsed};

/// Pairs in a round, and rounds for each policy; fewer rounds if the pairs are slow because they leave the virtual machine.
const PAIRS: usize = 64;
const ROUNDS: usize = 101;
const ENOUGH_TICKS: i64 = 10_000_000;

pub(super) fn lines() -> Vec<Finding> {
    let mut lines = vec![step().named("resolution"), trap()];
    if clock::availability().is_ok() {
        lines.extend(POLICIES.map(|policy| fence(policy).named(policy.1)));
    }
    lines
}

fn step() -> Finding {
    /// More than the step of any x86 counter. A 24 MHz timer has a step of 42 ns.
    const COARSE_NS: f64 = 20.0;
    let step = resolution::ticks();
    let unit = if step == 1 { "tick" } else { "ticks" };
    let Ok(rate) = calibration::rate() else {
        return good(format!("{step} {unit}")).means("a single reading is uncertain by one step");
    };
    let ns = rate.ns(step as f64);
    let value = format!("{step} {unit} = {ns:.1} ns");
    if ns > COARSE_NS {
        return doubtful(value)
            .means("a single reading is uncertain by one step, which is as long as many instructions")
            .advise("for short functions, trust measure() or the mean of many calls rather than min and quantiles");
    }
    good(value)
        .means("a single reading is uncertain by one step; the mean of many calls is more exact")
}

/// The finding on a fence policy, and the measurement of it.
type Policy = (Fence, &'static str, fn() -> (f64, f64));

macro_rules! policies {
    ($($policy:ident $name:literal)*) => {
        [$((Fence::$policy, concat!("fence ", $name), cost::<$policy>)),*]
    };
}
const POLICIES: [Policy; Fence::ALL.len()] = for_each_policy!(policies);

fn fence((fence, _, cost): Policy) -> Finding {
    if !fence.is_supported() {
        return good("not available on this CPU")
            .means("functions with this policy are measured with the default, lfence");
    }
    let (visible, total) = cost();
    let value = format!("{visible:.0} ticks inside, {total:.0} in all (bare pair of reads)");
    if total > TRAPPED_TICKS as f64 {
        return doubtful(value)
            .means("the fence leaves the virtual machine or is emulated")
            .advise("use the default fence, or use this one only for functions that take a hundred times as long");
    }
    good(value).means("this overhead is subtracted from every call and its callers")
}

/// The ticks between the two reads of an empty pair, and the ticks that the pair takes in all: medians over the rounds.
fn cost<P: FencePolicy>() -> (f64, f64) {
    let mut visible = Vec::with_capacity(ROUNDS);
    let mut total = Vec::with_capacity(ROUNDS);
    let began = clock::now();
    while visible.len() < ROUNDS
        && (visible.len() < 3 || elapsed(began, clock::now()) < ENOUGH_TICKS)
    {
        let mut seen: i64 = 0;
        let start: Ticks = Lfence::start();
        for _ in 0..PAIRS {
            let inside = P::start();
            tsc::escape(&inside);
            seen = seen.wrapping_add(elapsed(inside, P::stop()));
        }
        let whole = elapsed(start, Lfence::stop());
        visible.push(black_box(seen) as f64 / PAIRS as f64);
        total.push(whole as f64 / PAIRS as f64);
    }
    let median = |costs| median(costs).unwrap_or(f64::NAN);
    (median(visible), median(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_reads_cost_something() {
        if clock::availability().is_err() || cfg!(not(target_arch = "x86_64")) {
            return;
        }
        let ((bare_visible, bare), (visible, total)) = (cost::<Unfenced>(), cost::<Lfence>());
        assert!(bare > 0.0 && bare_visible > 0.0 && visible > 0.0);
        // Everything visible is part of the total. But the medians are of different rounds, and the machine may be busy.
        assert!(total > visible * 0.3, "{visible} {total}");
    }
}
