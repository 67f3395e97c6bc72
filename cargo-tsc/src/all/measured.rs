//! The functions of a report, and what their probes cost.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tsc_report::{CallsiteReport, Report};

use super::closures::Inner;
use super::{Place, place};
use crate::annotate::Function;
use crate::rows::path;
use crate::sources::plain;

/// A probe may cost this many times what the report says of it.
const BEYOND_REPORT: f64 = 2.0;
/// A light probe may cost this many ticks, because the function around it is no longer inlined, and loops with it are no longer vectorised.
const LOST_INLINING: f64 = 60.0;

/// A function, and the cost of measuring it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Its place in the source.
    pub place: Place,
    /// `module::name`.
    pub name: String,
    /// Its calls in the measured run.
    pub calls: u64,
    /// How often it was entered: its calls, or the polls of an async function.
    pub(super) entries: u64,
    /// Ticks with callees.
    pub(super) total_ticks: f64,
    /// Ticks without callees, but with the cost of its probes if its time is by ticks of the clock.
    self_ticks: f64,
    /// The cost of its probes, in ticks.
    pub probes: f64,
    /// Whether it is a closure whose time is its function's without its probe. That is in the function's `self_ticks`, too.
    #[serde(default)]
    pub is_inner: bool,
}

impl Measured {
    /// Whether it is this function of a file: the same name in the same line.
    #[must_use]
    pub fn is(&self, file: &Path, function: &Function) -> bool {
        // The names of rows have no `r#`.
        let written = function.name.trim_start_matches("r#");
        plain(&self.place.0) == file
            && self.place.1 == function.line
            && self.name.rsplit("::").next() == Some(written)
    }

    /// All functions in a report. A file may belong to two crates, and its functions to two rows.
    #[must_use]
    pub fn all(report: &Report) -> Vec<Self> {
        let mut all = BTreeMap::<Place, Self>::new();
        let inner = Inner::of(report);
        for (number, row) in report.callsites().iter().enumerate() {
            let mut one = Self::new(report, row);
            one.is_inner = inner.rows.contains(&number);
            one.self_ticks += inner.ticks.get(&number).unwrap_or(&0.0);
            match all.get_mut(&one.place) {
                Some(same) => same.add(&one),
                None => drop(all.insert(one.place.clone(), one)),
            }
        }
        all.into_values().collect()
    }

    fn new(report: &Report, row: &CallsiteReport) -> Self {
        Self {
            place: place(row),
            name: path(row),
            calls: row.calls(),
            entries: row.calls().max(row.polls().unwrap_or(0)),
            total_ticks: row.total_ticks(),
            self_ticks: row.self_on_cpu() + row.subtracted_ticks(),
            probes: row.cost_of_probes(report.clock()),
            is_inner: false,
        }
    }

    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.entries += other.entries;
        self.total_ticks += other.total_ticks;
        self.self_ticks += other.self_ticks;
        self.probes += other.probes;
        self.is_inner &= other.is_inner;
    }

    /// The greatest cost of its probes that is possible, in ticks.
    #[must_use]
    pub fn at_most(&self) -> f64 {
        (BEYOND_REPORT * self.probes).max(LOST_INLINING * self.entries as f64)
    }

    /// The order in which functions lose their probes: the greatest share of probes first, and then the most probes.
    pub(super) fn by_probes(&self, other: &Self) -> Ordering {
        let by_share = other.perturbation().total_cmp(&self.perturbation());
        by_share.then(other.probes.total_cmp(&self.probes))
    }

    /// The probes' share of the function's own time.
    #[must_use]
    pub fn perturbation(&self) -> f64 {
        (self.probes / self.self_ticks.max(f64::MIN_POSITIVE)).min(1.0)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A function with calls of so many ticks, of which `own` are its own, and with probes of 5 ticks.
    pub(in crate::all) fn function(name: &str, calls: u64, ticks: f64, own: f64) -> Measured {
        Measured {
            place: ("src/main.rs".into(), 1),
            name: name.to_owned(),
            calls,
            entries: calls,
            total_ticks: ticks * calls as f64,
            self_ticks: own * calls as f64,
            probes: 5.0 * calls as f64,
            is_inner: false,
        }
    }

    #[test]
    fn a_row_is_of_the_function_of_its_name_and_line() {
        let is = |row, name: &str, line| {
            let of = Function {
                name: name.to_owned(),
                line,
                lines: line..=line,
                has_attribute: false,
            };
            function(row, 1, 1.0, 1.0).is(&plain(Path::new("src/main.rs")), &of)
        };
        assert!(is("m::parse", "parse", 1) && is("m::match", "r#match", 1));
        assert!(!is("m::parse", "parse", 2) && !is("m::parse", "m", 1));
    }
}
