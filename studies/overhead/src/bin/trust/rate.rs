//! Compares the rate of the counter that is measured in 4 ms with the one that is measured in 2 s.

use std::time::Duration;

use tsc_runtime::calibration::calibrate;

use overhead::target;

const SHORT_ONES: usize = 20;
const TARGET_PPM: f64 = 2.0;

pub(crate) fn run() {
    let what = "20 calibrations of 4 ms against one of 2 s: the farthest apart";
    let must = "≤ 2 ppm";
    let Ok(long) = calibrate(Duration::from_secs(2)) else {
        return target::print(what, must, "the clocks do not run evenly".to_owned(), false);
    };
    let apart = (0..SHORT_ONES)
        .map(|_| {
            calibrate(Duration::from_millis(4)).map_or(f64::INFINITY, |short| {
                (short.hz() / long.hz() - 1.0).abs() * 1e6
            })
        })
        .fold(0.0, f64::max);
    target::print(what, must, format!("{apart:.3} ppm"), apart <= TARGET_PPM);
}
