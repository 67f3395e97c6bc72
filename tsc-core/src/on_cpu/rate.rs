//! The counter's rate, as exact as is needed to convert the kernel's nanoseconds to ticks.
//!
//! Both clocks are read when the first thread begins to measure, and again each time that twice as much time has passed. So the time that a
//! thread has run is known in ticks to twice the error of these readings, tens of nanoseconds, however early it is needed.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use once_cell::race::OnceBox;

use crate::process::ClockPair;
use crate::tsc::{FencePolicy, Ticks, Unfenced, elapsed};

static FIRST: OnceBox<Option<(Ticks, u64)>> = OnceBox::new();
/// The bits of the rate, and the number of ticks since the first reading on which it is based.
static TICKS_PER_NS: AtomicU64 = AtomicU64::new(0);
static BASELINE: AtomicU64 = AtomicU64::new(0);

/// The number of attempts at a reading, of which the least disturbed one counts.
const TRIES: usize = 5;

/// With a baseline of at least this length (about 30 ms), a rate that differs by over 1 % is not a better one: a clock has stepped.
const STEADY: u64 = 1 << 26;

/// Makes the first reading, unless it was made.
pub(super) fn first_reading() {
    FIRST.get_or_init(|| Box::new(reading()));
}

/// Ticks per nanosecond, as far as is known now.
pub(super) fn ticks_per_ns() -> Option<f64> {
    let (first_ticks, first_ns) = (*FIRST.get()?)?;
    let known = f64::from_bits(TICKS_PER_NS.load(Relaxed));
    let rests_on = BASELINE.load(Relaxed);
    // Negative if the counter was set back, which leaves the rate as it is.
    let since_first = elapsed(first_ticks, Unfenced::start());
    if known != 0.0 && since_first / 2 < rests_on.cast_signed() {
        return Some(known);
    }
    let (ticks, ns) = reading()?;
    let baseline = elapsed(first_ticks, ticks).max(0).cast_unsigned();
    let rate = baseline as f64 / ns.saturating_sub(first_ns).max(1) as f64;
    BASELINE.store(baseline, Relaxed);
    if rests_on > STEADY && !(0.99..1.01).contains(&(rate / known)) {
        return Some(known);
    }
    TICKS_PER_NS.store(rate.to_bits(), Relaxed);
    Some(rate)
}

/// The counter.
pub(crate) fn now() -> Ticks {
    Unfenced::start()
}

/// Both clocks at the same moment. Not by an iterator over an array: without optimisation, that takes much more of the stack, of which a signal
/// handler may have little.
fn reading() -> Option<(Ticks, u64)> {
    let mut best: Option<ClockPair> = None;
    for _ in 0..TRIES {
        let pair = ClockPair::read();
        let is_whole = pair.width() >= 0 && pair.ns != 0;
        if is_whole && best.as_ref().is_none_or(|best| pair.width() < best.width()) {
            best = Some(pair);
        }
    }
    let best = best?;
    let half = best.width().cast_unsigned() / 2;
    Some((best.before.wrapping_add(half), best.ns))
}

#[cfg(all(test, linux_x86, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn rate_is_the_calibrated_one() {
        first_reading();
        std::thread::sleep(std::time::Duration::from_millis(30));
        let calibrated = crate::calibration::rate().unwrap().hz / 1e9;
        let rate = ticks_per_ns().unwrap();
        assert!(
            (0.99..1.01).contains(&(rate / calibrated)),
            "{rate} {calibrated}"
        );
    }
}
