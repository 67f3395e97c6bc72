//! The errors of self ticks, at 95 %. They depend on all functions of a report. `errors` of the studies prints how often they are true.

use super::interruptions;
use super::ticked::SQUARES_UNIT;
use crate::data::share;
use crate::{CallsiteReport, Clock};

/// By what factor the figures of several runs of a program differ more than the number of ticks alone explains, because the layout of memory,
/// the caches and the machine differ, too. `fine_grained --coverage` prints how often two standard errors cover the difference to the mean of
/// 40 runs: without this factor it was 86 to 94 %, and with 1.2 in rows above 1 % 89 to 93 % (EPYC, Zen 4).
const BETWEEN_RUNS: f64 = 1.25;

// `errors` of the studies prints how often the root of the sum of the squares of these parts covers the truth, and how much larger it is than
// what is seen.
/// So many of the standard errors that the number of ticks explains. With the other part, 95 % of what is measured lies within.
const STANDARD_ERRORS: f64 = 2.0;
/// Without probes, the compiler inlines and arranges a function's code in another way, and probes overlap with the code around them. The error
/// that comes from this is this part of the geometric mean of what the probes took and what the function took with them: where probes are
/// few, it is small but more than they cost, and where they are nearly all, it is in proportion to what they cost.
const REARRANGED: f64 = 0.5;

/// This part of the error of one nested call's cost is the same for all calls that a function makes, at several places: a caller of functions of
/// tens of ticks was 10 to 14 ticks a call above its share of `perf` on a Xeon, where the cost of one may be 45 ticks off.
pub(super) const NESTED: f64 = 1.0 / 3.0;

/// States the errors of all functions. `outside` is the time on the CPU outside of all of them.
pub(super) fn derive_errors(callsites: &mut [CallsiteReport], clock: &Clock, outside: f64) {
    let ticked = Ticked::of(callsites, outside);
    let left = interruptions::left(callsites, clock);
    for callsite in callsites {
        if callsite.is_by_ticks() {
            ticked.state(callsite);
            let least = contradiction(callsite, clock);
            callsite.self_error_ticks = callsite.self_error_ticks.map(|error| error.max(least));
        } else {
            callsite.self_error_ticks = error_of_timed(callsite, clock, left);
        }
    }
}

/// The error of a function of which each call is timed, if an interruption leaves so many ticks. The parts have nothing to do with each other.
fn error_of_timed(callsite: &CallsiteReport, clock: &Clock, left: f64) -> Option<f64> {
    let own_error = clock.overhead(&callsite.fence)?.visible_error_ticks;
    let probes = callsite.sums.probes() as f64 * own_error;
    let nested = callsite.nested_overhead_ticks.max(0.0) * clock.total_error_share() * NESTED;
    let crowding = clock.crowding_error_share * callsite.self_on_cpu().abs();
    let interruptions = callsite.sums.own_interruptions as f64 * left;
    Some(probes.hypot(nested).hypot(crowding).hypot(interruptions))
}

/// By how much the ticks of the clock contradict what the calls of a timed function took, which is an error for certain. On a thread that mostly
/// blocks, few ticks find it on the CPU, and what blocking takes counts for the work around it.
fn contradiction(callsite: &CallsiteReport, clock: &Clock) -> f64 {
    let sums = &callsite.sums;
    // A call that still runs is in the ticks alone.
    if callsite.is_light() || sums.running != 0 {
        return 0.0;
    }
    let (by_calls, by_ticks) = (sums.own_on_cpu(), callsite.self_on_cpu());
    // The calls contain light callees, if there are any, and perhaps time off the CPU.
    let is_alone = sums.ticked <= sums.ticked_own && sums.is_on_cpu_known(clock);
    let found = share(sums.linked as f64, sums.probes() as f64).min(1.0);
    let missing = if is_alone {
        by_calls * found - by_ticks
    } else {
        0.0
    };
    missing.max(by_ticks - by_calls).max(0.0)
}

/// Sums over all functions whose time is known by ticks of the clock. How many of a run's ticks find one of them is a matter of chance,
/// unless nothing else runs.
struct Ticked {
    /// The time on the CPU in which ticks find one of them, or none.
    on_cpu: f64,
    /// What one more tick would add to the squares. With few ticks, the number that was found says little about the number that was to be
    /// expected. `None` if there were none.
    one_more: Option<f64>,
}

impl Ticked {
    fn of(callsites: &[CallsiteReport], outside: f64) -> Self {
        let ticked = || callsites.iter().filter(|callsite| callsite.is_by_ticks());
        let sum = |of: fn(&CallsiteReport) -> f64| ticked().map(of).sum::<f64>();
        let own = sum(|callsite| callsite.sums.ticked_own as f64);
        let squares = sum(|callsite| callsite.sums.ticked_squares as f64);
        let ticks = sum(|callsite| callsite.sums.clock_ticks as f64);
        Self {
            on_cpu: (own + outside.max(0.0)).max(1.0),
            one_more: (ticks != 0.0).then(|| squares / ticks),
        }
    }

    fn state(&self, callsite: &mut CallsiteReport) {
        let sums = &callsite.sums;
        // What one row has too much, others have too little.
        let of_others = 1.0 - (sums.ticked_own as f64 / self.on_cpu).clamp(0.0, 1.0);
        let by_ticks = |one_more: f64| {
            let variance = (sums.ticked_squares as f64 + one_more) * of_others;
            SQUARES_UNIT * variance.sqrt()
        };
        let probes = callsite.probe_ticks.unwrap_or(0.0);
        let probes = probes.max(callsite.subtracted_ticks());
        let with_probes = callsite.self_on_cpu().abs() + probes;
        let rearranged = REARRANGED * (probes * with_probes).sqrt();
        let error_with = |one_more: f64| {
            // So many more ticks were to be expected at most: if few were found, the standard error is too small as well.
            let rare = STANDARD_ERRORS.powi(2) / 2.0;
            let rare = rare * SQUARES_UNIT * one_more.sqrt() * of_others;
            let by_chance = STANDARD_ERRORS * by_ticks(one_more) + rare;
            by_chance.hypot(rearranged)
        };
        callsite.self_error_ticks = self.one_more.map(error_with);
        let std_error = self.one_more.map(by_ticks);
        callsite.self_std_error_ticks = std_error.map(|error| BETWEEN_RUNS * error);
    }
}

#[cfg(test)]
mod tests {
    use super::super::ticked::{IN_PROGRAMS, tests::light};
    use super::*;
    use crate::{CallsiteSums, FenceOverhead};

    #[test]
    fn error_is_that_of_the_number_of_ticks() {
        let clock = Clock::default();
        // A hundred ticks of 1024 ticks of the counter each, of which the first row has ten and the last one none.
        let mut rows = [
            light(1, 10 * 1024, 10, 10),
            light(1, 90 * 1024, 90, 90),
            light(1, 0, 0, 0),
        ];
        derive_errors(&mut rows, &clock, 0.0);
        let errors = rows.map(|row| row.self_std_error_ticks.unwrap() / 1024.0 / BETWEEN_RUNS);
        for (error, expected) in errors.iter().zip([11.0 * 0.9, 91.0 * 0.1, 1.0]) {
            assert!((error * error - expected).abs() < 1e-9, "{errors:?}");
        }
        let mut alone = [light(1, 1024, 1, 1)];
        derive_errors(&mut alone, &clock, 0.0);
        assert_eq!(alone[0].self_std_error_ticks, Some(0.0));
        // Only because of its one probe.
        let probe = 5.0 * IN_PROGRAMS;
        let with_probe = alone[0].self_on_cpu() + probe;
        let expected = REARRANGED * (probe * with_probe).sqrt();
        assert_eq!(alone[0].self_error_ticks, Some(expected));
        derive_errors(&mut [light(1, 0, 0, 0)], &clock, 0.0);
        // Half of the time is outside of all functions.
        let mut beside = [light(1, 90 * 1024, 90, 90)];
        derive_errors(&mut beside, &clock, 90.0 * 1024.0);
        let error = beside[0].self_std_error_ticks.unwrap() / 1024.0 / BETWEEN_RUNS;
        assert!((error * error - 91.0 * 0.5).abs() < 1e-9, "{error}");
    }

    #[test]
    fn ticks_that_contradict_the_calls_are_an_error() {
        let error = |ticked_own, ticked, running| {
            let mut row = CallsiteReport {
                sums: CallsiteSums {
                    samples: 10,
                    sum: 10_000,
                    linked: 10,
                    clock_ticks: 1000,
                    ticked_own,
                    ticked,
                    running,
                    ..CallsiteSums::default()
                },
                ..CallsiteReport::default()
            };
            row.derive(&Clock::default());
            let mut rows = [row];
            derive_errors(&mut rows, &Clock::default(), 0.0);
            rows[0].self_error_ticks
        };
        assert_eq!(error(30_000, 30_000, 0), Some(20_000.0));
        assert_eq!(error(1000, 1000, 0), Some(9000.0));
        // The rest may be that of light callees.
        assert_eq!(error(1000, 2000, 0), Some(0.0));
        // The ticks may be those of the call that runs.
        assert_eq!(error(30_000, 30_000, 1), Some(0.0));
    }

    #[test]
    fn parts_of_the_error_of_a_timed_function_are_independent() {
        let clock = Clock {
            hz: Some(1e9),
            overheads: vec![FenceOverhead {
                fence: "lfence".to_owned(),
                visible_error_ticks: 3.0,
                total_ticks: 100.0,
                ..FenceOverhead::default()
            }],
            crowding_error_share: 0.01,
            ..Clock::default()
        };
        let error = |own_interruptions| {
            let mut row = CallsiteReport {
                fence: "lfence".to_owned(),
                sums: CallsiteSums {
                    samples: 10,
                    sum: 4_000,
                    own_interruptions,
                    ..CallsiteSums::default()
                },
                ..CallsiteReport::default()
            };
            row.derive(&clock);
            let mut rows = [row];
            derive_errors(&mut rows, &clock, 0.0);
            rows[0].self_error_ticks.unwrap()
        };
        assert_eq!(error(0), 30.0_f64.hypot(40.0));
        // Two interruptions, of some ten microseconds each.
        assert!(error(2) > 20_000.0, "{}", error(2));
    }
}
