//! The rate that is calibrated within 20 ms against the one of 2 s, and what a program pays for it.

use std::time::{Duration, Instant};

use tsc_runtime::calibration::{self, BASELINE};

const SHORT_ONES: usize = 20;
/// What a calibration of 20 ms may be off, in millionths.
const SHORT_PPM: f64 = 2.0;

#[test]
fn twenty_milliseconds_agree_with_two_seconds() {
    let long = calibration::calibrate(Duration::from_secs(2)).expect("the clocks run evenly");
    let mut widest: f64 = 0.0;
    for _ in 0..SHORT_ONES {
        let short = calibration::calibrate(BASELINE).expect("the clocks run evenly");
        let apart = (short.hz / long.hz - 1.0).abs() * 1e6;
        assert!(
            apart <= short.ppm + long.ppm,
            "{apart} ppm apart: {short}, {long}"
        );
        widest = widest.max(apart);
    }
    println!("{long}; the widest of {SHORT_ONES} calibrations of 20 ms was {widest:.3} ppm off");
    assert!(widest <= SHORT_PPM, "{widest} ppm");
}

#[test]
fn rate_is_waited_for_once_at_most() {
    let first = calibration::rate().expect("the clocks run evenly");
    let start = Instant::now();
    const TIMES: u32 = 100;
    for _ in 0..TIMES {
        calibration::rate().expect("the clocks run evenly");
    }
    let each = start.elapsed() / TIMES;
    assert!(each < BASELINE / 10, "{each:?} for a rate that is known");
    let last = calibration::rate().expect("the clocks run evenly");
    assert!((first.hz / last.hz - 1.0).abs() * 1e6 <= first.ppm + last.ppm);
}
