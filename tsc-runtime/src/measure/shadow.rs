//! What a fence hides of the work behind it.
//!
//! Between two fences with nothing in between the core spends a cycle or so that it does not spend when there is work: the work's
//! first instructions get ready meanwhile. An empty call, which is what is subtracted, has that cycle; a call of more than a few
//! cycles has not, and so would come out too short by it. How much it is depends on the core, and is found with a chain whose
//! length is known.

use std::sync::OnceLock;
use std::time::Duration;

use super::engine::{self, Plan};
use super::work::Calls;
use crate::reference_chain;
use crate::resolution;
use crate::tsc::Lfence;

/// Links of the known chain: no longer than its cycles can be told exactly, and longer than what a fence could hide.
const LINKS: f64 = 40.0;
/// A shadow beyond this is none.
const GREATEST: f64 = 4.0;

/// Core cycles by which work between fences comes out too short; 0 where that cannot be told.
pub(super) fn cycles() -> f64 {
    static SHADOW: OnceLock<f64> = OnceLock::new();
    *SHADOW.get_or_init(|| {
        if !reference_chain::AVAILABLE {
            return 0.0;
        }
        let plan = Plan {
            precision: 0.005,
            time_limit: Duration::from_millis(20),
            warm_up: 64,
            batch: Some(64),
            isolated: true,
            step: resolution::ticks(),
            shadow: 0.0,
        };
        let outcome = engine::run::<Lfence>(
            &mut Calls::new(reference_chain::forty_additions),
            &mut Calls::new(|| ()),
            plan,
            "",
        );
        let measured = outcome.core_cycles.map_or(LINKS, |(cycles, _)| cycles);
        (LINKS - measured).clamp(0.0, GREATEST)
    })
}

/// What to add to a net result of `cycles`: nothing to next to nothing, all of it from twice as much as a fence can hide.
pub(super) fn correction(shadow: f64, cycles: f64) -> f64 {
    shadow * ((cycles - GREATEST) / GREATEST).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_call_stays_empty() {
        assert_eq!(correction(1.2, 0.0), 0.0);
        assert_eq!(correction(1.2, 4.0), 0.0);
        assert_eq!(correction(1.2, 1000.0), 1.2);
        assert!((correction(1.2, 6.0) - 0.6).abs() < 1e-9);
    }
}
