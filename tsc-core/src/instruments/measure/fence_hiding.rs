//! How much time a fence hides of the work that follows it.
//!
//! Between two fences with nothing in between, the core spends about one cycle that it does not spend if there is work, because the work's
//! first instructions are prepared during that cycle. The empty call, which is subtracted, contains this cycle. A call of more than a few
//! cycles does not contain it, so its net result would be too small by this cycle. How many cycles are hidden depends on the core, on the
//! address of the empty loop, and on what the core's other hardware thread does. So every round also calls a chain of known length: the
//! cycles that seem to be missing from it are the hidden ones.

/// The core cycles of the known chain: few enough for a cycle to be resolved, and more than a fence can hide.
const KNOWN: f64 = 40.0;
/// A fence hides at most this many core cycles.
const GREATEST: f64 = 4.0;

/// The correction begins at this many core cycles of work, and grows to its full size over this many further cycles.
const RAMP: (f64, f64) = (4.0, 2.0);

/// The core cycles to add to a net result of `cycles`, if the known chain seems to take `known`: none if the result is a few cycles, and all
/// that a fence hides if it is longer.
pub(super) fn correction(known: f64, cycles: f64) -> f64 {
    if known.is_nan() {
        return 0.0;
    }
    let hidden = (KNOWN - known).clamp(-GREATEST, GREATEST);
    hidden * ((cycles - RAMP.0) / RAMP.1).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shadow_is_what_the_known_chain_lacks() {
        assert!((correction(38.8, 1000.0) - 1.2).abs() < 1e-9);
        assert_eq!(correction(f64::NAN, 1000.0), 0.0);
        assert_eq!(correction(400.0, 1000.0), -GREATEST);
    }

    #[test]
    fn empty_call_stays_empty() {
        assert_eq!(correction(38.8, 0.0), 0.0);
        assert_eq!(correction(38.8, 4.0), 0.0);
        assert!((correction(38.8, 5.0) - 0.6).abs() < 1e-9);
    }
}
