//! Making a report of what the registry holds.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::collect::{collect_callsites, forget_corrections};
use super::settings::settings;
use super::{Clock, MachineReport, Process, Report, output};
use crate::calibration;
use crate::calibration::overhead;
use crate::registry;

/// Calls that had at least started when a report was last made.
pub(super) static REPORTED: AtomicU64 = AtomicU64::new(0);

/// The figures of all threads, as they are now.
///
/// May be called at any time and from any thread, also while others record. Takes a few milliseconds, to measure the probes'
/// overhead once more; up to 20 ms more if the process began to measure less than 20 ms ago, to measure the counter's rate. Calls that
/// are still running are not in it, but are counted in [`CallsiteReport::running`](crate::CallsiteReport::running).
#[must_use]
pub fn snapshot() -> Report {
    let began = registry::begin_report();
    let report = Report::collect();
    // To an annotated function around this call, all of that is overhead.
    registry::add_cost_of_report(began);
    report
}

/// Prints the figures of all threads to stderr, as they are now: see [`snapshot`].
///
/// The user's variables say where and in what form, or not at all: see the table in `docs/variables.md`. A program that has called
/// this does not dump once more at its exit, unless further calls have started.
pub fn report() {
    let report = snapshot();
    REPORTED.fetch_max(report.started(), Relaxed);
    output::print(&report);
}

/// Forgets all that was recorded so far, on all threads.
///
/// A call in flight counts in full when it returns, with its time before the reset; one on another thread that makes no further
/// annotated call may be left out.
pub fn reset() {
    output::keep();
    registry::reset();
    forget_corrections();
    REPORTED.store(0, Relaxed);
}

/// What a release build says that asks for a report.
const NOT_ON: &str = "release builds are measured with the feature `release-builds` of tsc-runtime, which this one was built without";

/// Whether annotated functions of a crate built as this one measure: the features' and the profile's word.
const fn is_on() -> bool {
    cfg!(feature = "release-builds") || cfg!(debug_assertions)
}

impl Report {
    fn collect() -> Self {
        let totals = registry::totals();
        let measured = !totals.is_empty();
        if measured {
            overhead::recalibrate();
        }
        let rate = measured.then(|| calibration::rate().ok()).flatten();
        let clock = Clock::collect(&totals, rate.as_ref());
        Self {
            process: Process::collect(),
            meta: settings().meta.clone(),
            machine: MachineReport::collect(),
            callsites: collect_callsites(&totals, &clock),
            clock,
            nothing_because: (!measured && !is_on()).then(|| NOT_ON.to_owned()),
            unrecorded_calls: registry::unrecorded(),
            ..Self::default()
        }
    }

    /// Calls that have started, whether they have returned or not.
    fn started(&self) -> u64 {
        self.callsites
            .iter()
            .map(|callsite| callsite.calls + callsite.running)
            .sum()
    }
}
