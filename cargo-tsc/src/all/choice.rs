//! Chooses the probe of each function, from what a run with light probes has counted.

use serde::{Deserialize, Serialize};
use tsc_report::{CallsiteReport, Report};

use super::measured::Measured;
use super::{Place, place};

/// A measured run may take this many times the CPU time of one without measurement.
pub const ALLOWED: f64 = 1.2;
/// Functions are left out once more if a run takes this many times as long. Runs differ by some per cent, and this is a single one.
pub const REPEATED: f64 = 1.17;
/// Leaving out functions aims at this ratio, so that it need not be repeated.
const WANTED: f64 = 1.12;
/// Functions that take this long are timed: a timed probe is then at most a few per cent of them. A single call has no distribution, and a
/// light probe tells its time as well. That is the case of `main`, which begins before the clock does.
const TIMED_SECONDS: f64 = 5e-6;
/// If timing the calls of all light functions takes at most this share of a run, they are timed, too: then no figure depends on which functions the
/// few ticks of a short run have found.
const FEW: f64 = 0.01;
/// Functions are left out if a greater share of their time are probes.
const MOSTLY: f64 = 1.0 / 2.0;
/// Probes that cost less than this share of the run are kept, because they do not slow it down noticeably, and too few ticks of the clock
/// tell how long their functions took.
const NOTICEABLE: f64 = 0.001;
/// Functions with a smaller share of probes are never left out, because a run gains little from it.
const WORTH: f64 = 1.0 / 10.0;
/// If the closures that lose their probes have more than this share of all probes, the next run tells how much the others slow it down: a loop that
/// is no longer vectorised because of a closure in it loses much more than a probe takes.
const FEW_INNER: f64 = 0.1;
/// The cost of a timed call in ticks, which the report of light ones does not contain.
const A_CALL: f64 = 120.0;

/// The runs from which probes are chosen.
#[derive(Clone, Copy, Debug)]
pub struct Runs {
    /// The rate of the ticks.
    pub hz: f64,
    /// The time of the program without measurement, in seconds.
    pub bare_seconds: f64,
    /// How many times as long the program with measurement takes.
    pub ratio: f64,
    /// The clock's part of the ratio, which does not depend on the probes.
    pub of_clock: f64,
    /// Whether functions with few calls may be timed: calls that do not return have no time then.
    pub ends_soon: bool,
}

impl Runs {
    /// The ticks of the program without measurement.
    fn bare_ticks(&self) -> f64 {
        self.bare_seconds * self.hz
    }

    /// The share of the run without measurement that a tick of the functions' calibrated probes takes.
    fn per_tick(&self, functions: &[Measured]) -> f64 {
        let calibrated: f64 = functions.iter().map(|function| function.probes).sum();
        (self.ratio - 1.0 - self.of_clock).max(0.0) / calibrated.max(1.0)
    }

    /// How many times what they are calibrated to take these probes took, because they also keep the compiler from inlining: at least once.
    #[must_use]
    pub fn times_calibrated(&self, functions: &[Measured]) -> f64 {
        let times = self.per_tick(functions) * self.bare_ticks();
        if times.is_finite() {
            times.max(1.0)
        } else {
            1.0
        }
    }
}

/// The functions that get no light probe.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// Every call is timed.
    pub timed: Vec<Measured>,
    /// There is no probe, and their time is their callers'.
    pub bare: Vec<Measured>,
    /// Closures without a probe, because their callers are their own functions.
    #[serde(default)]
    pub inner: Vec<Measured>,
    /// What the user has left out: each call of its probe would cost a little of its caller's time.
    #[serde(default)]
    pub filtered: Vec<Place>,
    /// They were timed, and have a light probe again.
    #[serde(skip)]
    pub light: Vec<Measured>,
    /// The share of all time that counts for another crate than its own, because functions have no probe.
    #[serde(skip)]
    pub crossed: f64,
    /// Whether the program, which has run to its end, does so soon.
    pub ends_soon: bool,
}

impl Choice {
    /// Adds what was chosen later.
    pub fn add(&mut self, later: Self) {
        self.timed.extend(later.timed);
        self.bare.extend(later.bare);
        self.inner.extend(later.inner);
        self.filtered.extend(later.filtered);
        self.crossed += later.crossed;
        self.timed.retain(|one| !later.light.contains(one));
    }

    /// The timed functions of which no call has returned.
    #[must_use]
    pub fn without_return(&self, report: &Report) -> Vec<Measured> {
        let never = |row: &&CallsiteReport| row.calls() == 0 && row.running() != 0;
        let rows = report.callsites().iter().filter(never);
        let places: Vec<Place> = rows.map(place).collect();
        let timed = self.timed.iter();
        let timed = timed.filter(|function| places.contains(&function.place));
        timed.cloned().collect()
    }
}

/// The places of the functions that `TSC_ONLY` or `TSC_SKIP` left out.
#[must_use]
pub fn filtered(report: &Report) -> Vec<Place> {
    let place = |place: &String| {
        let (file, line) = place.rsplit_once(':')?;
        Some((file.into(), line.parse().ok()?))
    };
    report.left_out_at().iter().filter_map(place).collect()
}

/// Chooses the closures that need no probe, the functions whose calls are long enough to be timed, and those that are left out: those that are
/// mostly probe, and then others with the greatest share of probes, until a run is only a little slower than without measurement. Those that
/// `leave_out` refuses are kept.
#[must_use]
pub fn choose(
    functions: Vec<Measured>,
    runs: Runs,
    leave_out: &mut dyn FnMut(&Measured) -> bool,
) -> Choice {
    // Where the clock of light probes cannot run, or has not ticked yet, there are only counts, and nothing says what is mostly probe.
    let has_times = functions.iter().any(|function| function.total_ticks != 0.0);
    // The calibrated cost may not be all that probes cost, because they also keep the compiler from inlining. So it is scaled to the
    // measured slowdown.
    let all: f64 = functions.iter().map(|function| function.probes).sum();
    let mut excess = runs.ratio - 1.0;
    let per_tick = runs.per_tick(&functions);
    let (inner, functions): (Vec<_>, Vec<_>) = functions
        .into_iter()
        .partition(|function| function.is_inner);
    let of_inner: f64 = inner.iter().map(|closure| closure.probes).sum();
    excess = match of_inner > FEW_INNER * all {
        true => 0.0,
        false => excess - of_inner * per_tick,
    };
    let long = TIMED_SECONDS * runs.hz;
    let is_long = |function: &Measured| {
        function.calls > 1 && function.total_ticks >= long * function.entries as f64
    };
    let (mut timed, mut others): (Vec<_>, Vec<_>) = functions.into_iter().partition(is_long);
    let ticks = runs.bare_ticks();
    let is_worth = |function: &Measured| {
        has_times && function.probes > NOTICEABLE * ticks && function.perturbation() > WORTH
    };
    others.sort_by(Measured::by_probes);
    let (bare, light): (Vec<_>, Vec<_>) = others.into_iter().partition(|function| {
        let is_needed = function.perturbation() > MOSTLY || excess > WANTED - 1.0;
        let is_left_out = is_worth(function) && is_needed && leave_out(function);
        if is_left_out {
            excess -= function.probes * per_tick;
        }
        is_left_out
    });
    let entries: u64 = light.iter().map(|function| function.entries).sum();
    if runs.ends_soon && ticks.is_finite() && entries as f64 * A_CALL <= FEW * ticks {
        timed.extend(light);
    }
    Choice {
        timed,
        bare,
        inner,
        ..Choice::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::all::measured::tests::function;

    /// A run of a second in which no function is slowed down.
    const RUNS: Runs = Runs {
        hz: 1e9,
        bare_seconds: 1.0,
        ratio: 1.0,
        of_clock: 0.0,
        ends_soon: false,
    };

    /// The names of the timed functions, and of those that are left out.
    fn chosen(functions: &[Measured], runs: Runs) -> [Vec<String>; 2] {
        let choice = choose(functions.to_vec(), runs, &mut |_| true);
        [choice.timed, choice.bare].map(|some| some.into_iter().map(|one| one.name).collect())
    }

    #[test]
    fn long_calls_are_timed_with_their_callees() {
        let functions = [
            function("main", 1, 1e9, 0.0),
            function("enough", 100, 5000.0, 10.0),
            function("short", 100, 4999.0, 4999.0),
        ];
        assert_eq!(chosen(&functions, RUNS), [vec!["enough"], vec![]]);
        let mut polled = function("polled", 10, 1e6, 1e6);
        polled.entries = 10_000;
        assert_eq!(chosen(&[polled], RUNS), [vec![""; 0], vec![]]);
    }

    #[test]
    fn what_is_mostly_probe_is_left_out_if_it_costs_something() {
        let functions = [
            function("most", 1_000_000, 100.0, 9.0),
            function("least", 1_000_000, 100.0, 11.0),
            function("unseen", 1_000_000, 100.0, 0.0),
            function("rare", 100, 6.0, 6.0),
        ];
        assert_eq!(chosen(&functions, RUNS)[1], ["unseen", "most"]);
    }

    #[test]
    fn a_slow_run_loses_the_greatest_shares_of_probes_and_no_more_than_needed() {
        let functions = [
            function("main", 1, 1e9, 1e6),
            function("large", 1_000_000, 251.0, 251.0),
            function("medium", 8_000_000, 45.0, 45.0),
            function("small", 10_000_000, 30.0, 30.0),
            function("tiny", 10_000_000, 20.0, 20.0),
        ];
        let slow = |ratio| Runs { ratio, ..RUNS };
        // The probes cost 0.145 of the run by calibration. What leaving out one gains is scaled to what they really cost.
        assert!(chosen(&functions, slow(1.1))[1].is_empty());
        assert_eq!(chosen(&functions, slow(1.16))[1], ["tiny"]);
        assert_eq!(chosen(&functions, slow(1.25))[1], ["tiny", "small"]);
        let all = ["tiny", "small", "medium"];
        assert_eq!(chosen(&functions, slow(3.0))[1], all, "large is kept");
    }

    #[test]
    fn no_function_is_light_if_timing_all_costs_little() {
        let ends_soon = Runs {
            ends_soon: true,
            ..RUNS
        };
        let functions = |calls| {
            let long = function("long", 100, 5000.0, 10.0);
            [
                long,
                function("few", calls, 50.0, 50.0),
                function("main", 1, 1e9, 0.0),
            ]
        };
        assert_eq!(
            chosen(&functions(80_000), ends_soon)[0],
            ["long", "main", "few"]
        );
        assert_eq!(chosen(&functions(90_000), ends_soon)[0], ["long"]);
        assert_eq!(chosen(&functions(80_000), RUNS)[0], ["long"]);
    }

    #[test]
    fn probes_take_what_the_runs_tell_but_at_least_their_calibrated_cost() {
        let functions = [
            function("a", 1_000_000, 50.0, 100.0),
            function("b", 1_000_000, 50.0, 100.0),
        ];
        let times = |ratio| Runs { ratio, ..RUNS }.times_calibrated(&functions);
        assert_eq!([1.0, 1.005, f64::INFINITY].map(times), [1.0; 3]);
        assert!((times(1.025) - 2.5).abs() < 1e-6);
        assert_eq!(RUNS.times_calibrated(&[]), 1.0);
    }

    #[test]
    fn counts_alone_say_nothing_about_probes() {
        let functions = [function("often", 10_000_000, 0.0, 0.0)];
        assert_eq!(chosen(&functions, RUNS), [vec![""; 0], vec![]]);
        let ends_soon = Runs {
            ends_soon: true,
            ..RUNS
        };
        assert_eq!(chosen(&functions, ends_soon), [vec![""; 0], vec![]]);
        let few = [function("few", 10, 0.0, 0.0)];
        assert_eq!(chosen(&few, ends_soon), [vec!["few"], vec![]]);
    }

    #[test]
    fn closures_lose_their_probes_to_their_function_before_others_do() {
        let slow = Runs { ratio: 3.0, ..RUNS };
        let mut closure = function("f::{closure#0}", 10_000_000, 100.0, 100.0);
        closure.is_inner = true;
        let mut rare = closure.clone();
        rare.calls = 10;
        rare.probes = 50.0;
        for (closure, expected) in [(closure, vec![]), (rare, vec!["tiny"])] {
            let tiny = function("tiny", 10_000_000, 20.0, 20.0);
            let main = function("main", 1, 1e9, 1e6);
            let choice = choose(vec![main, tiny, closure.clone()], slow, &mut |_| true);
            assert_eq!(choice.inner, [closure]);
            let bare = choice.bare.iter().map(|one| &*one.name);
            assert_eq!(bare.collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn a_few_calls_are_not_what_slows_a_run_down() {
        let functions = [
            function("main", 1, 1e6, 1e6),
            function("once", 1, 20.0, 20.0),
        ];
        assert!(chosen(&functions, Runs { ratio: 3.0, ..RUNS })[1].is_empty());
    }
}
