//! What interruptions leave in the time on the CPU.
//!
//! When another thread takes the CPU, the kernel counts a part of the switch as the interrupted thread's own time, and the timer's interrupt
//! before it. Where a hypervisor has taken the CPU meanwhile, some of that time is counted, too. What it comes to differs from machine to
//! machine and with what else runs there. So it is measured: by how much interrupted calls took longer than others.

use super::statistics::mean;
use crate::{CallsiteReport, CallsiteSums, Clock};

/// The usual time, in seconds, for programs in which few interruptions tell. Short functions took 11 µs more on Zen 4, 16 to 23 on Zen 3.
const USUAL: f64 = 15e-6;
/// So many interruptions tell as much as that.
const FEW: f64 = 4.0;
/// The mean over the interruptions of a function is at most this many times the mean over all: `errors` of the studies prints how often.
const SPREAD: f64 = 3.0;
/// Long calls are interrupted more often. Functions whose calls are interrupted at lengths that differ from the mean by more than this tell
/// nothing, in seconds.
const EVEN: f64 = 5e-6;

/// How many ticks an interruption leaves, at 95 %. 0 if the counter's rate is unknown.
pub(super) fn left(callsites: &[CallsiteReport], clock: &Clock) -> f64 {
    let hz = clock.hz.unwrap_or(0.0);
    let (mut count, mut ticks) = (FEW, FEW * USUAL * hz);
    for callsite in callsites {
        if let Some(more) = more_in_interrupted(&callsite.sums, EVEN * hz) {
            count += callsite.sums.own_interruptions as f64;
            ticks += more;
        }
    }
    SPREAD * (ticks / count).max(0.0)
}

/// How many more ticks the interrupted calls took than others, if they tell: if another thread took the CPU in each of them, and not in callees,
/// and if these are all of its interrupted calls, so that its interruptions were in them. Calls that are long enough to be samples although they
/// were interrupted differ by more than interruptions leave, too.
fn more_in_interrupted(sums: &CallsiteSums, even: f64) -> Option<f64> {
    let excluded = sums.excluded;
    let are_all = sums.repaired == 0 && sums.firsts_interrupted == 0;
    let is_each = (excluded..).contains(&sums.own_interruptions);
    if excluded == 0 || excluded >= sums.samples || !are_all || !is_each {
        return None;
    }
    // What is interrupted in proportion to its length has this mean.
    let hit = sums.squares.get() as f64 / sums.sum as f64;
    let is_even = sums.sum > 0 && hit - mean(sums.sum, sums.samples)? < even;
    is_even.then_some(sums.excluded_sum as f64 - excluded as f64 * hit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SumOfSquares;

    /// A thousand calls of 100 ticks, and these.
    fn left_by(change: impl FnOnce(&mut CallsiteSums)) -> f64 {
        let mut callsite = CallsiteReport {
            sums: CallsiteSums {
                samples: 1000,
                sum: 100_000,
                squares: SumOfSquares(10_000_000),
                excluded: 396,
                excluded_sum: 396 * 30_100,
                own_interruptions: 396,
                ..CallsiteSums::default()
            },
            ..CallsiteReport::default()
        };
        change(&mut callsite.sums);
        let clock = Clock {
            hz: Some(1e9),
            ..Clock::default()
        };
        left(&[callsite], &clock)
    }

    #[test]
    fn interrupted_calls_tell_what_an_interruption_leaves() {
        let known = SPREAD * (4.0 * 15_000.0 + 396.0 * 30_000.0) / 400.0;
        assert!((left_by(|_| {}) - known).abs() < 1e-6);
    }

    #[test]
    fn calls_that_were_interrupted_often_tell_of_each_interruption() {
        let known = SPREAD * (4.0 * 15_000.0 + 396.0 * 30_000.0) / (4.0 + 3960.0);
        let left = left_by(|sums| sums.own_interruptions = 3960);
        assert!((left - known).abs() < 1e-6);
    }

    #[test]
    fn calls_that_block_or_differ_tell_nothing() {
        let usual = SPREAD * USUAL * 1e9;
        let is_usual = |left: f64| (left - usual).abs() < 1e-6;
        assert!(is_usual(left_by(|sums| sums.own_interruptions = 3)));
        assert!(is_usual(left_by(|sums| sums.excluded = 0)));
        assert!(is_usual(left_by(|sums| sums.sum = -100_000)));
        // The other interruptions were in calls that were long enough for samples, or in a thread's first call.
        assert!(is_usual(left_by(|sums| sums.repaired = 1)));
        assert!(is_usual(left_by(|sums| sums.firsts_interrupted = 1)));
        // A file may say anything.
        assert!(is_usual(left_by(|sums| {
            (sums.repaired, sums.firsts_interrupted) = (u64::MAX, 1);
        })));
        // One call of 100 µs takes half of the time.
        assert!(is_usual(left_by(|sums| {
            (sums.samples, sums.sum) = (1001, 200_000);
            sums.squares = SumOfSquares(10_010_000_000);
        })));
        assert_eq!(left(&[], &Clock::default()), 0.0);
    }
}
