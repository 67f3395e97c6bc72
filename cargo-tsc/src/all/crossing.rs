//! Time that would become that of another crate if functions were left out.

use tsc_report::Report;

use super::contexts::{self, Context};
use super::{Place, place};

/// Leaving out functions moves at most this share of all time to other crates, in all rounds together.
const ALLOWED: f64 = 0.01;
/// What a function's own probes have added to its self time is known to about this part of what they cost.
const UNCERTAIN: f64 = 0.5;

/// The call paths of a run, and the functions in them that are left out.
#[derive(Debug, Default)]
pub struct Crossing {
    rows: Vec<Row>,
    contexts: Vec<Context>,
    all_ticks: f64,
    /// The share that earlier rounds have moved. Now it looks like the other crates' own.
    before: f64,
}

#[derive(Debug)]
struct Row {
    place: Place,
    krate: String,
    is_left_out: bool,
    /// Whether its self time is larger than what its own probes may have added to it. What is mostly probe may take no time without one: the
    /// compiler may make nothing of a conversion that another crate calls. The stated error is not asked: the part of it by the number of ticks is
    /// larger than most functions of a short run.
    is_known: bool,
}

impl Crossing {
    /// The call paths in a report, of a run without functions whose share `before` counts for other crates. Its probes took so many `times` what
    /// they are calibrated to take.
    #[must_use]
    pub fn new(report: &Report, before: f64, times: f64) -> Self {
        let rows = report.callsites().iter().map(|row| Row {
            place: place(row),
            krate: krate(row.module()).to_owned(),
            is_left_out: false,
            is_known: row
                .probe_ticks()
                .is_none_or(|probes| row.self_on_cpu() > UNCERTAIN * times * probes),
        });
        let contexts = contexts::all(report);
        Self {
            rows: rows.collect(),
            all_ticks: contexts.iter().map(|context| context.self_ticks).sum(),
            contexts,
            before,
        }
    }

    /// The share of all time that becomes that of other crates, without what did before.
    #[must_use]
    pub fn share(&self) -> f64 {
        match self.all_ticks {
            0.0 => 0.0,
            all => self.moved() / all,
        }
    }

    /// Leaves out a function, unless too much time would become that of other crates. What is subtracted for its probes is no part of it.
    pub fn leave_out(&mut self, place: &Place) -> bool {
        self.set_left_out(place, true);
        let is_allowed = self.moved() <= (ALLOWED - self.before) * self.all_ticks;
        if !is_allowed {
            self.set_left_out(place, false);
        }
        is_allowed
    }

    fn set_left_out(&mut self, place: &Place, is_left_out: bool) {
        let rows = self.rows.iter_mut().filter(|row| row.place == *place);
        rows.for_each(|row| row.is_left_out = is_left_out);
    }

    /// The ticks that become those of another crate, as far as they are known.
    fn moved(&self) -> f64 {
        let is_left_out = |row: usize| self.rows.get(row).is_some_and(|row| row.is_left_out);
        let krate = |row: Option<usize>| Some(&self.rows.get(row?)?.krate);
        let owners = contexts::owners(&self.contexts, is_left_out);
        let is_known = |row: usize| self.rows.get(row).is_some_and(|row| row.is_known);
        let contexts = self.contexts.iter().zip(owners);
        let contexts = contexts.filter(|(context, _)| context.row.is_some_and(is_known));
        let moved = contexts.filter(|(context, owner)| krate(context.row) != krate(*owner));
        moved.map(|(context, _)| context.self_ticks).sum()
    }
}

/// The crate of a module.
fn krate(module: &str) -> &str {
    module.split("::").next().unwrap_or(module)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, krate: &str) -> Row {
        Row {
            place: (name.into(), 1),
            krate: krate.to_owned(),
            is_left_out: false,
            is_known: name != "cast",
        }
    }

    const fn context(row: usize, parent: Option<usize>, self_ticks: f64) -> Context {
        Context {
            row: Some(row),
            parent,
            self_ticks,
        }
    }

    #[test]
    fn rounds_move_no_more_than_one_may() {
        let crossing = |before| Crossing {
            rows: vec![row("main", "program"), row("parse", "work")],
            contexts: vec![context(0, None, 994.0), context(1, Some(0), 6.0)],
            all_ticks: 1000.0,
            before,
        };
        let parse = ("parse".into(), 1);
        let mut first = crossing(0.0);
        assert!(first.leave_out(&parse));
        assert_eq!(first.share(), 0.006);
        assert!(!crossing(first.share()).leave_out(&parse));
    }

    #[test]
    fn what_probes_may_have_added_is_not_kept() {
        let row = |module: &str, probes: f64| {
            serde_json::json!({
                "name": "f", "module": module, "file": module, "line": 1, "probe": "light",
                "self_ticks": 60.0, "self_on_cpu_ticks": 60.0, "probe_ticks": probes,
            })
        };
        let context = |row: usize, parent: Option<usize>| serde_json::json!({ "callsite": row, "parent": parent, "self_ticks": 60 });
        let mut report = serde_json::to_value(Report::default()).unwrap();
        report["callsites"] = vec![row("program", 0.0), row("work", 100.0)].into();
        report["contexts"] = vec![context(0, None), context(1, Some(0))].into();
        let report = Report::from_json(&report.to_string()).unwrap();
        let is_left_out = |times| {
            let mut crossing = Crossing::new(&report, 0.0, times);
            crossing.leave_out(&("work".into(), 1))
        };
        assert_eq!([1.0, 1.5].map(is_left_out), [false, true]);
    }

    #[test]
    fn a_function_that_another_crate_calls_is_kept() {
        let mut crossing = Crossing {
            rows: vec![
                row("main", "program"),
                row("parse", "work"),
                row("next", "work"),
                row("cast", "words"),
            ],
            contexts: vec![
                context(0, None, 10.0),
                context(1, Some(0), 10.0),
                context(2, Some(1), 70.0),
                context(3, Some(1), 10.0),
            ],
            all_ticks: 100.0,
            before: 0.0,
        };
        let mut leave_out = |name: &str| crossing.leave_out(&(name.into(), 1));
        assert!(leave_out("next"), "its caller is of the same crate");
        assert!(leave_out("cast"), "it may take no time");
        assert!(!leave_out("parse"), "it would become the program's");
        assert!(leave_out("main"));
    }
}
