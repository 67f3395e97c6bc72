//! Compares the rate that is measured in a few milliseconds with the one that is measured in 2 s. `trust` in studies/overhead prints the difference.

use std::time::{Duration, Instant};

use tsc_runtime::calibration;

/// For so long the first request for the rate waits.
const BASELINE: Duration = Duration::from_millis(4);

#[test]
fn short_calibrations_hold_what_they_promise() {
    let long = calibration::calibrate(Duration::from_secs(2)).expect("the clocks run evenly");
    for _ in 0..20 {
        let short = calibration::calibrate(BASELINE).expect("the clocks run evenly");
        let apart = (short.hz() / long.hz() - 1.0).abs() * 1e6;
        assert!(
            apart <= short.ppm() + long.ppm(),
            "{apart} ppm apart: {short}, {long}"
        );
    }
}

#[test]
fn rate_is_waited_for_once_at_most() {
    let first = calibration::rate().expect("the clocks run evenly");
    let quickest = (0..100)
        .map(|_| {
            let start = Instant::now();
            calibration::rate().expect("the clocks run evenly");
            start.elapsed()
        })
        .min();
    assert!(quickest < Some(BASELINE), "each of 100 took {quickest:?}");
    let last = calibration::rate().expect("the clocks run evenly");
    assert!((first.hz() / last.hz() - 1.0).abs() * 1e6 <= first.ppm() + last.ppm());
}
