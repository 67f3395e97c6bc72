//! Time that would become that of another crate if functions were left out.

use tsc_report::Report;

use super::Place;
use super::choice::Measured;

/// Leaving out functions moves at most this share of all time to other crates.
const ALLOWED: f64 = 0.01;

/// The call paths of a run, and the functions in them that are left out.
#[derive(Debug, Default)]
pub struct Crossing {
    rows: Vec<Row>,
    /// Parents come before their children.
    contexts: Vec<Context>,
    all_ticks: f64,
}

#[derive(Debug)]
struct Row {
    place: Place,
    krate: String,
    /// If it is left out: the part of its time that is not probes.
    work: Option<f64>,
}

#[derive(Debug)]
struct Context {
    row: Option<usize>,
    parent: Option<usize>,
    self_ticks: f64,
}

impl Crossing {
    /// The call paths in a report.
    #[must_use]
    pub fn new(report: &Report) -> Self {
        let rows = report.callsites().iter().map(|row| Row {
            place: (row.file().into(), row.line()),
            krate: krate(row.module()).to_owned(),
            work: None,
        });
        let contexts = report.contexts().iter().map(|context| Context {
            row: context.callsite().map(|row| row as usize),
            parent: context.parent().map(|parent| parent as usize),
            self_ticks: context.self_ticks() + context.probe_ticks(),
        });
        let contexts: Vec<Context> = contexts.collect();
        Self {
            rows: rows.collect(),
            all_ticks: contexts.iter().map(|context| context.self_ticks).sum(),
            contexts,
        }
    }

    /// Leaves out a function, unless too much time would become that of other crates. Its probes are no part of that time.
    pub fn leave_out(&mut self, function: &Measured) -> bool {
        self.set_work(&function.place, Some(1.0 - function.perturbation()));
        let is_allowed = self.moved() <= ALLOWED * self.all_ticks;
        if !is_allowed {
            self.set_work(&function.place, None);
        }
        is_allowed
    }

    fn set_work(&mut self, place: &Place, work: Option<f64>) {
        let rows = self.rows.iter_mut().filter(|row| row.place == *place);
        rows.for_each(|row| row.work = work);
    }

    /// The ticks that become those of another crate.
    fn moved(&self) -> f64 {
        let mut moved = 0.0;
        // The crate whose row has the time of each context.
        let mut owners: Vec<&str> = Vec::with_capacity(self.contexts.len());
        for context in &self.contexts {
            let caller = context.parent.and_then(|parent| owners.get(parent));
            let row = context.row.and_then(|row| self.rows.get(row));
            let krate = row.map_or("", |row| &row.krate);
            let owner = match (row.and_then(|row| row.work), caller) {
                (Some(work), Some(&caller)) => {
                    if caller != krate {
                        moved += work * context.self_ticks;
                    }
                    caller
                }
                _ => krate,
            };
            owners.push(owner);
        }
        moved
    }
}

/// The crate of a module.
fn krate(module: &str) -> &str {
    module.split("::").next().unwrap_or(module)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::all::choice::tests::function;

    #[test]
    fn a_function_that_another_crate_calls_is_kept() {
        let row = |name: &str, krate: &str| Row {
            place: (name.into(), 1),
            krate: krate.to_owned(),
            work: None,
        };
        let context = |row, parent, self_ticks| Context {
            row: Some(row),
            parent,
            self_ticks,
        };
        let mut crossing = Crossing {
            rows: vec![
                row("main", "program"),
                row("parse", "work"),
                row("next", "work"),
            ],
            contexts: vec![
                context(0, None, 10.0),
                context(1, Some(0), 10.0),
                context(2, Some(1), 80.0),
            ],
            all_ticks: 100.0,
        };
        let mut leave_out = |name: &str, own: f64| {
            let mut function = function(name, 1, own, own);
            function.place = (name.into(), 1);
            crossing.leave_out(&function)
        };
        // All of it is probe, so nothing moves.
        assert!(leave_out("parse", 5.0));
        assert!(!leave_out("next", 100.0), "it would become the program's");
        assert!(leave_out("main", 100.0));
    }
}
