//! RDTSC between the fences, none, once, twice, …: each must cost the same.

use std::arch::asm;
use std::time::Duration;

use tsc_runtime::measure::{Measure, Measurement};

macro_rules! rungs {
    ($($count:literal)*) => {[$(
        (|| {
            Measure::new(concat!($count, " rdtsc")).batch(1).overlapping().precision(0.002).time_limit(LIMIT).run(|| {
                // SAFETY: only reads the counter, which the measurement does as well.
                unsafe {
                    asm!(concat!(".rept ", $count), "rdtsc", ".endr", out("eax") _, out("edx") _, options(nostack));
                }
            })
        }) as fn() -> Measurement
    ),*]};
}

/// For each rung.
const LIMIT: Duration = Duration::from_millis(50);
/// How often the ladder is climbed; the core's clock may change on the way.
const CLIMBS: usize = 9;

/// Measures 0 … 16 RDTSCs between one pair of fenced reads; of several climbs the measurement with the median mean of each.
pub fn climb() -> Vec<Measurement> {
    let rungs = rungs!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
    let mut climbs: Vec<Vec<Measurement>> = rungs.iter().map(|_| Vec::new()).collect();
    for _ in 0..CLIMBS {
        for (rung, measured) in rungs.iter().zip(&mut climbs) {
            measured.push(rung());
        }
    }
    climbs
        .into_iter()
        .map(|mut measured| {
            measured.sort_by(|a, b| a.mean_ticks().total_cmp(&b.mean_ticks()));
            measured.swap_remove(CLIMBS / 2)
        })
        .collect()
}

/// The straight line through values at 0, 1, 2, …
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// What each step adds.
    pub slope: f64,
    /// The value at 0.
    pub intercept: f64,
    /// The share of the variance that the line explains.
    pub r_squared: f64,
}

/// Fits a line by least squares.
pub fn fit(values: &[f64]) -> Line {
    let n = values.len() as f64;
    let (mean_x, mean_y) = ((n - 1.0) / 2.0, values.iter().sum::<f64>() / n);
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for (i, y) in values.iter().enumerate() {
        let (x, y) = (i as f64 - mean_x, y - mean_y);
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    let slope = xy / xx;
    Line {
        slope,
        intercept: mean_y - slope * mean_x,
        r_squared: xy * xy / (xx * yy),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_through_points_on_it() {
        let line = fit(&[5.0, 8.0, 11.0, 14.0]);
        assert!(
            (line.slope - 3.0).abs() < 1e-9
                && (line.intercept - 5.0).abs() < 1e-9
                && line.r_squared > 0.999_999
        );
    }
}
