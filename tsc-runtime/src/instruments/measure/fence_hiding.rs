//! What a fence hides of the work behind it.
//!
//! Between two fences with nothing in between the core spends a cycle or so that it does not spend when there is work: the work's
//! first instructions get ready meanwhile. An empty call, which is what is subtracted, has that cycle; a call of more than a few
//! cycles has not, and so would come out too short by it. How much it is depends on the core, on where the empty loop happens to
//! lie, and on what another thread of the core does; so every round also calls a chain of known length, which shows it.

/// Core cycles of the known chain: no more than can be resolved, and more than a fence could hide.
const KNOWN: f64 = 40.0;
/// A shadow beyond this is none.
const GREATEST: f64 = 4.0;

/// Core cycles by which work between fences comes out too short, if the known chain comes out at `measured`.
pub(super) fn cycles(measured: f64) -> f64 {
    let hidden = KNOWN - measured;
    if hidden.is_nan() {
        0.0
    } else {
        hidden.clamp(-GREATEST, GREATEST)
    }
}

/// Between so many core cycles, and so many more, work begins to be longer than what can be hidden of it.
const RAMP: (f64, f64) = (4.0, 2.0);

/// What to add to a net result of `cycles`: nothing to next to nothing, all of it to what is longer than a fence can hide.
pub(super) fn correction(fence_hiding: f64, cycles: f64) -> f64 {
    fence_hiding * ((cycles - RAMP.0) / RAMP.1).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shadow_is_what_the_known_chain_lacks() {
        assert!((cycles(38.8) - 1.2).abs() < 1e-9);
        assert_eq!(cycles(f64::NAN), 0.0);
        assert_eq!(cycles(400.0), -GREATEST);
    }

    #[test]
    fn empty_call_stays_empty() {
        assert_eq!(correction(1.2, 0.0), 0.0);
        assert_eq!(correction(1.2, 4.0), 0.0);
        assert_eq!(correction(1.2, 1000.0), 1.2);
        assert!((correction(1.2, 5.0) - 0.6).abs() < 1e-9);
    }
}
