//! Selects the functions that are not worth their probes.

use tsc_runtime::{CallsiteReport, Report};

use super::Place;
use crate::rows::{path, self_ticks};

/// A measured run may take this many times as long as one without measurement.
pub const ALLOWED: f64 = 1.3;
/// Pruning aims at this ratio, so that it need not be repeated.
const WANTED: f64 = 1.2;
/// The cost of a call in ticks, if the report does not contain it.
const A_CALL: f64 = 120.0;
/// Probes that cost less than this share of the run do not slow it down noticeably.
const NOTICEABLE: f64 = 0.001;
/// Probes that cost less than this share of what they measure are kept as long as there are others to remove.
const WORTH: f64 = 0.1;

/// A function, and the cost of measuring it.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Its place in the source.
    pub place: Place,
    /// `module::name`.
    pub name: String,
    /// Its calls in the measured run.
    pub calls: u64,
    /// Net ticks without callees.
    pub self_ticks: f64,
    /// The cost of its probes, in ticks.
    pub probes: f64,
}

impl Measured {
    /// All functions in a report.
    #[must_use]
    pub fn all(report: &Report) -> Vec<Self> {
        let measured = |row: &CallsiteReport| Self {
            place: (row.file().into(), row.line()),
            name: path(row),
            calls: row.calls(),
            self_ticks: self_ticks(row),
            probes: probes(report, row),
        };
        report.callsites().iter().map(measured).collect()
    }

    /// How much harm the function's probes do: those that cost much compared with what they measure are of little use, and those that cost
    /// much of the run slow it down.
    fn harm(&self) -> f64 {
        let is_worth_it = self.probes < WORTH * self.self_ticks;
        if is_worth_it {
            self.probes * 1e-6
        } else {
            self.probes
        }
    }
}

fn probes(report: &Report, row: &CallsiteReport) -> f64 {
    let overheads = report.clock().overheads();
    let of_fence = overheads
        .iter()
        .find(|overhead| overhead.fence() == row.fence());
    let a_call = of_fence.map_or(A_CALL, tsc_runtime::FenceOverhead::total_ticks);
    row.calls() as f64 * a_call
}

/// Selects the functions to leave out, so that a run is only a little slower than without measurement. `ratio` is how many times as long
/// it takes now, and `ticks` the time without measurement.
#[must_use]
pub fn choose(mut functions: Vec<Measured>, ratio: f64, ticks: f64) -> Vec<Measured> {
    // The calibrated cost may not be all that probes cost, because they also keep the compiler from inlining. So it is scaled to the
    // measured slowdown.
    let all: f64 = functions.iter().map(|function| function.probes).sum();
    let mut excess = ratio - 1.0;
    let per_tick = excess / all.max(1.0);
    // Probes with a few calls do not slow the run down. And `main` is kept, because without it there is nothing to compare.
    functions.retain(|function| {
        function.probes > NOTICEABLE * ticks && !function.name.ends_with("::main")
    });
    functions.sort_by(|a, b| b.harm().total_cmp(&a.harm()));
    let needed = functions
        .iter()
        .take_while(|function| {
            let more = excess > WANTED - 1.0;
            excess -= function.probes * per_tick;
            more
        })
        .count();
    functions.truncate(needed);
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str, calls: u64, ticks: f64) -> Measured {
        Measured {
            place: ("src/main.rs".into(), 1),
            name: format!("app::{name}"),
            calls,
            self_ticks: ticks * calls as f64,
            probes: A_CALL * calls as f64,
        }
    }

    fn chosen(functions: Vec<Measured>, ratio: f64, ticks: f64) -> Vec<String> {
        choose(functions, ratio, ticks)
            .into_iter()
            .map(|function| function.name)
            .collect()
    }

    #[test]
    fn short_and_often_goes_first_and_no_more_than_needed() {
        let functions = vec![
            function("main", 1, 1e9),
            function("long", 20_000_000, 1e4),
            function("small", 100_000, 50.0),
            function("tiny", 10_000_000, 10.0),
        ];
        assert_eq!(
            chosen(functions.clone(), 1.6, 2e9),
            ["app::tiny", "app::small", "app::long"]
        );
        assert_eq!(chosen(functions[2..].to_vec(), 1.6, 2e9), ["app::tiny"]);
    }

    #[test]
    fn a_few_calls_are_not_what_slows_a_run_down() {
        let functions = vec![function("main", 1, 1e6), function("once", 1, 20.0)];
        assert!(chosen(functions, 3.0, 1e8).is_empty());
    }
}
