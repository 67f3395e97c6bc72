//! The errors of self ticks, at 95 %. They depend on all functions of a report. `errors` of the studies prints how often they are true.

use super::interruptions;
use super::ticked::SQUARES_UNIT;
use crate::{CallsiteReport, Clock};

/// By what factor the figures of several runs of a program differ more than the number of ticks alone explains, because the layout of memory,
/// the caches and the machine differ, too. `fine_grained --coverage` prints how often two standard errors cover the difference to the mean of
/// 40 runs: without this factor it was 86 to 94 %.
const BETWEEN_RUNS: f64 = 1.2;
/// 95 % of what is measured lies within this many standard errors.
const STANDARD_ERRORS: f64 = 2.0;

/// By what share self ticks by ticks of the clock differ from those of the program without probes, besides by chance and by the cost of the
/// row's own probes, per share of probes in the program: where calls are so short that probes take much of the time, the compiler inlines and
/// arranges the code in another way without them. `errors` of the studies prints how often the sum of all parts covers the truth.
const UNLIKE_BARE: f64 = 0.75;

/// States the errors of all functions.
pub(super) fn derive_errors(callsites: &mut [CallsiteReport], clock: &Clock) {
    let ticked = Ticked::of(callsites);
    let left = interruptions::left(callsites, clock);
    for callsite in callsites {
        if callsite.is_by_ticks() {
            ticked.state(callsite);
        } else {
            callsite.self_error_ticks = error_of_timed(callsite, clock, left);
        }
    }
}

/// The error of a function of which each call is timed, if an interruption leaves so many ticks. The parts have nothing to do with each other.
fn error_of_timed(callsite: &CallsiteReport, clock: &Clock, left: f64) -> Option<f64> {
    let own_error = clock.overhead(&callsite.fence)?.visible_error_ticks;
    let probes = callsite.sums.probes() as f64 * own_error;
    let nested = callsite.nested_overhead_ticks.max(0.0) * clock.visible_error_share();
    let crowding = clock.crowding_error_share * callsite.self_on_cpu().abs();
    let interruptions = callsite.sums.own_interruptions as f64 * left;
    Some(probes.hypot(nested).hypot(crowding).hypot(interruptions))
}

/// Sums over all functions whose time is known by ticks of the clock. How many of a run's ticks find one of them is a matter of chance,
/// unless it is the only one.
struct Ticked {
    own: f64,
    /// What one more tick would add to the squares. With few ticks, the number that was found says little about the number that was to be
    /// expected. `None` if there were none.
    one_more: Option<f64>,
    /// By what share of them self ticks may differ from those of the program without probes.
    unlike: f64,
}

impl Ticked {
    fn of(callsites: &[CallsiteReport]) -> Self {
        let ticked = || callsites.iter().filter(|callsite| callsite.is_by_ticks());
        let sum = |of: fn(&CallsiteReport) -> f64| ticked().map(of).sum::<f64>();
        let own = sum(|callsite| callsite.sums.ticked_own as f64).max(1.0);
        let squares = sum(|callsite| callsite.sums.ticked_squares as f64);
        let ticks = sum(|callsite| callsite.sums.clock_ticks as f64);
        let probes = sum(|callsite| callsite.probe_ticks.unwrap_or(0.0));
        Self {
            own,
            one_more: (ticks != 0.0).then(|| squares / ticks),
            unlike: (UNLIKE_BARE * probes / own).min(1.0),
        }
    }

    fn state(&self, callsite: &mut CallsiteReport) {
        let (own, sums) = (callsite.self_on_cpu(), &callsite.sums);
        // What one row has too much, others have too little.
        let of_others = 1.0 - (sums.ticked_own as f64 / self.own).clamp(0.0, 1.0);
        let std_error_with = |one_more: f64| {
            let variance = (sums.ticked_squares as f64 + one_more) * of_others;
            BETWEEN_RUNS * SQUARES_UNIT * variance.sqrt()
        };
        // What was subtracted may be too much. So may be what a short function's callers have of its time: as much as its probes take.
        let probes = callsite.probe_ticks.unwrap_or(0.0);
        let probes = probes.max(callsite.subtracted_ticks());
        let unlike = self.unlike * of_others * own;
        let error_with = |one_more: f64| {
            // So many more ticks were to be expected at most: if few were found, the standard error is too small as well.
            let rare = (BETWEEN_RUNS * STANDARD_ERRORS).powi(2) / 2.0;
            let rare = rare * SQUARES_UNIT * one_more.sqrt() * of_others;
            let by_chance = STANDARD_ERRORS * std_error_with(one_more) + rare;
            by_chance.hypot(probes).hypot(unlike)
        };
        callsite.self_error_ticks = self.one_more.map(error_with);
        callsite.self_std_error_ticks = self.one_more.map(std_error_with);
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
        derive_errors(&mut rows, &clock);
        let errors = rows.map(|row| row.self_std_error_ticks.unwrap() / 1024.0 / BETWEEN_RUNS);
        for (error, expected) in errors.iter().zip([11.0 * 0.9, 91.0 * 0.1, 1.0]) {
            assert!((error * error - expected).abs() < 1e-9, "{errors:?}");
        }
        let mut alone = [light(1, 1024, 1, 1)];
        derive_errors(&mut alone, &clock);
        assert_eq!(alone[0].self_std_error_ticks, Some(0.0));
        // Only the cost of its one probe.
        let probe = 5.0 * IN_PROGRAMS;
        assert_eq!(alone[0].self_error_ticks, Some(probe));
        let mut halves = [light(1, 1024, 1, 0), light(1, 1024, 1, 0)];
        derive_errors(&mut halves, &clock);
        let expected = Some(probe.hypot(UNLIKE_BARE * (2.0 * probe / 2048.0) * 512.0));
        assert_eq!(halves[0].self_error_ticks, expected);
        derive_errors(&mut [light(1, 0, 0, 0)], &clock);
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
            derive_errors(&mut rows, &clock);
            rows[0].self_error_ticks.unwrap()
        };
        assert_eq!(error(0), 30.0_f64.hypot(40.0));
        // Two interruptions, of some ten microseconds each.
        assert!(error(2) > 20_000.0, "{}", error(2));
    }
}
