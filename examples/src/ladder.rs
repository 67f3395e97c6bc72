//! RDTSC between the fences, none, once, twice, and so on.

use std::time::Duration;

use tsc_runtime::measure::{Measure, Measurement};

/// Executes RDTSC `$count` times, each followed by `$then` if given, and discards the values.
#[macro_export]
macro_rules! rdtscs {
    ($count:literal $(, $then:literal)?) => {
        // SAFETY: RDTSC only reads the counter, and the measurement around it reads the counter, too.
        unsafe {
            ::std::arch::asm!(concat!(".rept ", $count), "rdtsc", $($then,)? ".endr", out("eax") _, out("edx") _, options(nostack));
        }
    };
}

macro_rules! rungs {
    ([$($count:literal)*] $then:tt) => {[$(rungs!(@ $count $then)),*]};
    (@ $count:literal [$($then:literal)?]) => {
        (|| {
            // The code that is subtracted is the same, without an RDTSC. An empty closure would be compiled to other moves of registers
            // between the fences, and the ladder, which should begin at zero, began at -1.5 ticks.
            Measure::new(concat!($count, " rdtsc"))
                .batch(1)
                .overlapping()
                .precision(0.002)
                .time_limit(LIMIT)
                .minus(|| rdtscs!(0), || rdtscs!($count $(, $then)?))
        }) as fn() -> Measurement
    };
}

/// The time limit for each row.
const LIMIT: Duration = Duration::from_millis(50);
/// How many times the ladder is measured.
const CLIMBS: usize = 9;

/// Measures 0 … 16 RDTSC between one pair of fenced reads.
///
/// The first one adds more than the others: the fence waits until it is complete, while in a row each begins before the one before it is
/// complete.
pub fn climb() -> Vec<Measurement> {
    climbed(&rungs!([0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16] []))
}

/// Measures 0 … 16 RDTSC, each followed by an LFENCE, between one pair of fenced reads. None begins before the one before it is complete,
/// so each adds the same, also the first.
pub fn climb_with_fences() -> Vec<Measurement> {
    climbed(&rungs!([0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16] ["lfence"]))
}

/// The core clock changes now and then, and with it the ticks of a cycle. So the ladder is measured several times, and for each row one of
/// the measurements is used, see [`chosen`].
fn climbed(rungs: &[fn() -> Measurement]) -> Vec<Measurement> {
    let climbs: Vec<Vec<Measurement>> = (0..CLIMBS)
        .map(|_| rungs.iter().map(|rung| rung()).collect())
        .collect();
    let mut clocks: Vec<f64> = climbs.iter().flatten().filter_map(clock).collect();
    clocks.sort_by(f64::total_cmp);
    let usual = clocks.get(clocks.len() / 2).copied().unwrap_or(1.0);
    (0..rungs.len())
        .map(|rung| {
            let of_all: Vec<_> = climbs
                .iter()
                .map(|climb| (clock(&climb[rung]), climb[rung].mean_ticks()))
                .collect();
            climbs[chosen(&of_all, usual)][rung].clone()
        })
        .collect()
}

/// Which of the measurements of a row, each with its clock and its ticks, is used. All rows must have the same clock, so only those come into
/// question whose clock is nearest to the usual one, more than half of all. Another program on the same core can disturb one of these, and
/// its clock does not show that, so it is the one with the median of their ticks.
fn chosen(measured: &[(Option<f64>, f64)], usual: f64) -> usize {
    // A measurement that got too little time to know its clock comes last.
    let distance = |place: &usize| {
        let clock = measured[*place].0;
        clock.map_or(f64::INFINITY, |clock| (clock - usual).abs())
    };
    let mut places: Vec<usize> = (0..measured.len()).collect();
    places.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    places.truncate(measured.len() / 2 + 1);
    places.sort_by(|a, b| measured[*a].1.total_cmp(&measured[*b].1));
    places[places.len() / 2]
}

/// Core cycles per tick during the measurement.
fn clock(measured: &Measurement) -> Option<f64> {
    measured.clock().map(|clock| clock.cycles_per_tick())
}

/// The straight line through values at 0, 1, 2, …
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// The increase from one value to the next.
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
    fn neither_another_clock_nor_a_disturbance_decides() {
        let usual = 1.4;
        let measured = [
            // Disturbed, at exactly the usual clock.
            (Some(1.40), 436.0),
            (Some(1.55), 361.0),
            (Some(1.41), 397.0),
            (Some(1.40), 400.0),
            (None, 380.0),
            (Some(1.39), 403.0),
            (Some(1.56), 359.0),
            (Some(1.40), 401.0),
            (Some(1.55), 362.0),
        ];
        assert_eq!(measured[chosen(&measured, usual)].1, 401.0);
    }

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
