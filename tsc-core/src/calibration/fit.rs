//! Fits the rate of one clock against another to paired readings: a pure function.
//!
//! A pair says: when the reference clock read `ns`, the counter was at least `before` and at most `after`. A delay between the reads (an
//! interrupt, a preemption of a millisecond) makes this interval wide, but not wrong. So the error bound is not a statistical one. A rate
//! is possible if a line with that slope passes through all intervals. This is the case if and only if such a line passes through every
//! two of them. `lowest..=highest` is the range of possible rates. The estimate is the least-squares slope, weighted by how narrow the
//! intervals are, and limited to that range.
//!
//! If no rate is possible, one of the clocks stepped or changed its rate. A few readings off the line that the others lie on are dropped.
//! If there are more of them, nothing shows which side of the step is right, and there is no rate.

use std::time::Duration;

use crate::process::ClockPair;
use crate::tsc::{Ticks, elapsed};

use super::statistics::median;
use super::{CalibrationError, Rate, Reference};
use tsc_report::__private::sorted;

/// The steps in which the two clocks advance. A reading may be up to one step behind the true time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Steps {
    /// The counter's step, in ticks.
    pub(super) ticks: Ticks,
    /// The reference clock's step, in nanoseconds.
    pub(super) ns: u64,
}

/// A rate with a larger error bound than this is an error.
const WORST_PPM: f64 = 10_000.0;
/// The rates that a CPU's counter can have, in Hz.
const PLAUSIBLE_HZ: std::ops::RangeInclusive<f64> = 1e6..=2e10;
/// At most one reading in this many may be off the line that the others lie on.
const OUTLIERS: usize = 5;

/// A pair as an interval of ticks at a point in time, both counted from the first pair.
#[derive(Clone, Copy)]
struct Interval {
    ns: f64,
    low: f64,
    high: f64,
}

impl Interval {
    fn middle(&self) -> f64 {
        f64::midpoint(self.low, self.high)
    }

    fn width(&self) -> f64 {
        self.high - self.low
    }
}

/// The rate that all pairs allow. Its bound holds if both clocks ran evenly.
///
/// # Errors
///
/// There are fewer than two usable pairs, the pairs are too close together or too wide, or no single rate explains them because a clock
/// stepped.
pub(super) fn fit(pairs: &[ClockPair], steps: Steps) -> Result<Rate, CalibrationError> {
    let mut intervals = intervals(pairs, steps);
    if intervals.len() < 2 {
        return Err(CalibrationError::TooFewPairs {
            usable: intervals.len(),
        });
    }
    let mut range = possible(&intervals, steps);
    if range.is_none() {
        drop_outliers(&mut intervals)?;
        range = possible(&intervals, steps);
    }
    slope_within(range.ok_or(CalibrationError::ClockStepped)?, &intervals)
}

fn intervals(pairs: &[ClockPair], steps: Steps) -> Vec<Interval> {
    let Some(first) = pairs.iter().min_by_key(|pair| pair.ns) else {
        return Vec::new();
    };
    let interval = |pair: &ClockPair| Interval {
        ns: (pair.ns - first.ns) as f64,
        low: elapsed(first.before, pair.before) as f64,
        high: elapsed(first.before, pair.after) as f64 + steps.ticks as f64,
    };
    // If the counter went backwards between its two reads, the pair says nothing about the clock between them.
    let forwards = pairs.iter().filter(|pair| pair.width() >= 0);
    let intervals: Vec<Interval> = forwards.map(interval).collect();
    sorted(&intervals, &|a, b| a.ns.total_cmp(&b.ns))
}

/// Every two intervals, the earlier one first, and the nanoseconds between them.
fn pairs(intervals: &[Interval]) -> impl Iterator<Item = (&Interval, &Interval, f64)> {
    intervals.iter().enumerate().flat_map(|(i, earlier)| {
        let later = intervals[i + 1..].iter();
        later.map(move |later| (earlier, later, later.ns - earlier.ns))
    })
}

/// The lowest and the highest slope, in ticks per nanosecond, of a line through all intervals. `None` if there is no such line.
fn possible(intervals: &[Interval], steps: Steps) -> Option<(f64, f64)> {
    let step = steps.ns as f64;
    let (mut lowest, mut highest) = (0_f64, f64::INFINITY);
    for (earlier, later, between) in pairs(intervals) {
        lowest = lowest.max((later.low - earlier.high) / (between + step));
        if later.high < earlier.low {
            return None; // the counter went backwards
        }
        if between > step {
            highest = highest.min((later.high - earlier.low) / (between - step));
        }
    }
    (lowest <= highest).then_some((lowest, highest))
}

/// Drops the intervals that are farther from the line with the median slope and the median intercept than their own width and the median
/// width together.
fn drop_outliers(intervals: &mut Vec<Interval>) -> Result<(), CalibrationError> {
    let span = intervals[intervals.len() - 1].ns;
    // Pairs that are close together determine a slope badly.
    let apart = pairs(intervals).filter(|&(.., ns)| ns > 0.0 && ns >= span / 4.0);
    let slopes = apart.map(|(earlier, later, ns)| (later.middle() - earlier.middle()) / ns);
    let slope = median(slopes.collect()).ok_or(CalibrationError::ClockStepped)?;
    let height = |interval: &Interval| interval.middle() - slope * interval.ns;
    let line =
        median(intervals.iter().map(height).collect()).ok_or(CalibrationError::ClockStepped)?;
    let usual = median(intervals.iter().map(Interval::width).collect()).unwrap_or(0.0);

    let all = intervals.len();
    intervals.retain(|interval| (height(interval) - line).abs() <= interval.width() + usual);
    let too_many = (all - intervals.len()) * OUTLIERS > all;
    // The dropped intervals must not be the only ones from the beginning or the end of the time.
    let remains = match &intervals[..] {
        [first, .., last] => last.ns - first.ns,
        _ => 0.0,
    };
    if too_many || remains < span / 2.0 {
        return Err(CalibrationError::ClockStepped);
    }
    Ok(())
}

/// The least-squares slope, weighted by the intervals' widths, limited to the possible range.
fn slope_within(
    (lowest, highest): (f64, f64),
    intervals: &[Interval],
) -> Result<Rate, CalibrationError> {
    if !highest.is_finite() {
        return Err(CalibrationError::Imprecise { ppm: f64::INFINITY });
    }
    let weight = |interval: &Interval| interval.width().max(1.0).powi(-2);
    let weighted = |of: &dyn Fn(&Interval) -> f64| -> f64 {
        intervals.iter().map(|it| weight(it) * of(it)).sum()
    };
    let weights = weighted(&|_| 1.0);
    let mean_ns = weighted(&|it| it.ns) / weights;
    let mean_ticks = weighted(&Interval::middle) / weights;
    let covariance = weighted(&|it| (it.ns - mean_ns) * (it.middle() - mean_ticks));
    let variance = weighted(&|it| (it.ns - mean_ns).powi(2));
    let slope = (covariance / variance).clamp(lowest, highest);
    let hz = slope * 1e9;
    let ppm = (highest - slope).max(slope - lowest) / slope * 1e6;
    if ppm.is_nan() || ppm > WORST_PPM {
        return Err(CalibrationError::Imprecise { ppm });
    }
    if !PLAUSIBLE_HZ.contains(&hz) {
        return Err(CalibrationError::Implausible { hz });
    }
    let baseline_ns = intervals[intervals.len() - 1].ns - intervals[0].ns;
    Ok(Rate {
        hz,
        ppm,
        baseline: Duration::from_nanos(baseline_ns as u64),
        reference: match ClockPair::IS_RAW {
            true => Reference::MonotonicRaw,
            false => Reference::Instant,
        },
        stepped: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: Steps = Steps { ticks: 26, ns: 1 };

    /// Readings, every 100 µs, of an even clock and of a counter with the rate `hz` that advances in steps of 26 ticks.
    struct Synthetic {
        hz: f64,
        random: u64,
        pairs: Vec<ClockPair>,
    }

    impl Synthetic {
        fn new(hz: f64, readings: u64) -> Self {
            let mut synthetic = Self {
                hz,
                random: 1,
                pairs: Vec::new(),
            };
            for i in 0..readings {
                let at = 1e12 + i as f64 * 100_000.0 + synthetic.up_to(1000) as f64;
                let (before, after) = (
                    15.0 + synthetic.up_to(10) as f64,
                    20.0 + synthetic.up_to(10) as f64,
                );
                synthetic.read(at, before, after);
            }
            synthetic
        }

        fn up_to(&mut self, end: u64) -> u64 {
            self.random = self
                .random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (self.random >> 33) % end
        }

        fn counter(&self, ns: f64) -> Ticks {
            (ns * self.hz / 1e9) as Ticks / 26 * 26
        }

        fn read(&mut self, at: f64, before: f64, after: f64) {
            self.pairs.push(ClockPair {
                before: self.counter(at - before),
                ns: at as u64,
                after: self.counter(at + after),
            });
        }

        fn assert_recovered(&self) {
            let slope = fit(&self.pairs, STEPS).unwrap();
            let off = (slope.hz / self.hz - 1.0).abs() * 1e6;
            assert!(off <= slope.ppm, "{off} ppm off, {slope:?}");
            assert!(off < 0.5 && slope.ppm < 10.0, "{off} ppm off, {slope:?}");
        }
    }

    #[test]
    fn slope_is_recovered() {
        for hz in [24e6, 1e9, 2_596_130_168.0, 5.7e9] {
            let synthetic = Synthetic::new(hz, 200);
            let slope = fit(&synthetic.pairs, STEPS).unwrap();
            let off = (slope.hz / hz - 1.0).abs() * 1e6;
            assert!(off <= slope.ppm, "{off} ppm off, {slope:?}");
            if hz > 1e9 {
                synthetic.assert_recovered();
            }
        }
    }

    #[test]
    fn stalls_between_the_reads_do_not_move_it() {
        let mut synthetic = Synthetic::new(2_596_130_168.0, 200);
        for i in (0..200).step_by(7) {
            let pair = &mut synthetic.pairs[i];
            // A delay of 1 ms, after the first read of the counter or before the second.
            if i % 2 == 0 {
                pair.before -= 2_596_130;
            } else {
                pair.after += 2_596_130;
            }
        }
        synthetic.assert_recovered();
    }

    #[test]
    fn readings_off_the_line_are_left_out() {
        let mut synthetic = Synthetic::new(2_596_130_168.0, 200);
        for i in (3..200).step_by(11) {
            synthetic.pairs[i].ns -= 1_000_000;
        }
        synthetic.assert_recovered();
    }

    #[cfg_attr(
        miri,
        ignore = "takes minutes under an interpreter, and nothing here is unsafe"
    )]
    #[test]
    fn step_of_the_reference_clock_is_refused_or_survived() {
        for at in [0, 1, 10, 50, 100, 150, 190, 199] {
            for step in [
                -5_000_000_i64,
                -20_000,
                20_000,
                5_000_000,
                3_600_000_000_000,
            ] {
                let mut synthetic = Synthetic::new(2_596_130_168.0, 200);
                for pair in &mut synthetic.pairs[at..] {
                    pair.ns = pair.ns.saturating_add_signed(step);
                }
                match fit(&synthetic.pairs, STEPS) {
                    Ok(_) => synthetic.assert_recovered(),
                    Err(error) => assert_eq!(error, CalibrationError::ClockStepped, "{at} {step}"),
                }
                if (50..=150).contains(&at) {
                    assert!(fit(&synthetic.pairs, STEPS).is_err(), "{at} {step}");
                }
            }
        }
    }

    #[test]
    fn lone_early_group_on_the_other_side_of_a_step_is_refused() {
        // One group of readings long ago, then five within two milliseconds, as in a program's first report.
        for step in [0, 50_000_000, -50_000_000_i64] {
            let mut synthetic = Synthetic::new(2_596_130_168.0, 4);
            for i in 0..20 {
                let at = 1.001e12 + f64::from(i / 4) * 500_000.0 + f64::from(i % 4) * 100.0;
                synthetic.read(at, 16.0, 22.0);
            }
            for pair in &mut synthetic.pairs[4..] {
                pair.ns = pair.ns.saturating_add_signed(step);
            }
            match fit(&synthetic.pairs, STEPS) {
                Ok(_) if step == 0 => synthetic.assert_recovered(),
                other => assert_eq!(
                    (other, step != 0),
                    (Err(CalibrationError::ClockStepped), true)
                ),
            }
        }
    }

    #[test]
    fn counter_that_restarts_is_refused() {
        let mut synthetic = Synthetic::new(2_596_130_168.0, 200);
        for pair in &mut synthetic.pairs[100..] {
            pair.before -= 2_500_000_000_000;
            pair.after -= 2_500_000_000_000;
        }
        assert_eq!(
            fit(&synthetic.pairs, STEPS),
            Err(CalibrationError::ClockStepped)
        );
    }

    #[test]
    fn change_of_pace_is_refused() {
        let mut synthetic = Synthetic::new(2_596_130_168.0, 100);
        let slower = Synthetic::new(2_596_130_168.0 * 0.93, 200);
        let gap = synthetic.pairs[99].before - slower.pairs[99].before;
        synthetic
            .pairs
            .extend(slower.pairs[100..].iter().map(|pair| ClockPair {
                before: pair.before + gap,
                after: pair.after + gap,
                ..*pair
            }));
        assert_eq!(
            fit(&synthetic.pairs, STEPS),
            Err(CalibrationError::ClockStepped)
        );
    }

    #[test]
    fn bound_is_the_half_widths_over_the_baseline() {
        let pair = |ns, before, after| ClockPair { before, ns, after };
        let pairs = [pair(0, 0, 100), pair(1_000_000, 1_000_000, 1_000_100)];
        let slope = fit(&pairs, Steps { ticks: 1, ns: 1 }).unwrap();
        let baseline = Duration::from_millis(1);
        assert_eq!((slope.hz.round(), slope.baseline), (1e9, baseline));
        // (101 + 101) / 2 ticks and 1 ns, in a million ticks.
        assert!((slope.ppm - 102.0).abs() < 0.1, "{slope:?}");
    }

    #[test]
    fn what_tells_no_rate_is_an_error() {
        let pair = |ns, before, after| ClockPair { before, ns, after };
        assert_eq!(
            fit(&[], STEPS),
            Err(CalibrationError::TooFewPairs { usable: 0 })
        );
        let one = pair(5, 10, 20);
        assert_eq!(
            fit(&[one], STEPS),
            Err(CalibrationError::TooFewPairs { usable: 1 })
        );
        let backwards = pair(1_000, 20, 10);
        assert_eq!(
            fit(&[one, backwards], STEPS),
            Err(CalibrationError::TooFewPairs { usable: 1 })
        );
        for pairs in [
            [one, one],
            [one, pair(6, 11, 21)],
            // A counter that does not advance.
            [one, pair(1_000_000_000, 10, 20)],
        ] {
            let error = fit(&pairs, STEPS).unwrap_err();
            assert!(
                matches!(error, CalibrationError::Imprecise { .. }),
                "{error:?}"
            );
        }
        let slow = [pair(0, 0, 1), pair(1_000_000_000_000, 1_000_000, 1_000_001)];
        let error = fit(&slow, Steps { ticks: 1, ns: 1 }).unwrap_err();
        assert!(
            matches!(error, CalibrationError::Implausible { .. }),
            "{error:?}"
        );
        // The ends of the range of numbers.
        let ends = [
            pair(0, 0, Ticks::MAX),
            pair(u64::MAX, Ticks::MAX, 0),
            pair(u64::MAX, 0, Ticks::MAX / 2),
        ];
        assert!(fit(&ends, STEPS).is_err());
    }
}
