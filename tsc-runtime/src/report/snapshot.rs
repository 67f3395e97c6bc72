//! Making a report of what the registry holds.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::collect::{collect_callsites, collect_contexts};
use super::settings::{Form, settings};
use super::{Clock, Ended, MachineReport, Process, Report, output};
use crate::calibration;
use crate::calibration::overhead;
use crate::events;
use crate::record::thread;
use crate::registry::{self, Figures};

/// Calls that had at least started when a report was last made.
pub(super) static REPORTED: AtomicU64 = AtomicU64::new(0);

/// The figures of all threads, as they are now.
///
/// May be called from any thread, also while others record. Takes a few milliseconds, to measure the probes'
/// overhead once more; up to 20 ms more if the process began to measure less than 20 ms ago, to measure the counter's rate. Calls that
/// are still running are not in it, but are counted in [`CallsiteReport::running`](crate::CallsiteReport::running).
///
/// It allocates, so it is not for signal handlers. One that has interrupted the runtime's own work, or an allocator that this work
/// has called, gets a report without callsites.
#[must_use]
pub fn snapshot() -> Report {
    collecting(|| {
        let figures = registry::figures()?;
        Some(Report::collect(&figures, registry::unrecorded()))
    })
}

/// The figures of all threads, as they are now, which are forgotten with that: a [`snapshot`] and a [`reset`] with nothing lost in
/// between.
///
/// Every call is in exactly one of the reports that follow on each other, in the first one after its return, so that their counts
/// and totals add up exactly. A call in flight is in a later report, with all its time.
#[must_use]
pub fn take() -> Report {
    collecting(|| {
        output::keep();
        let (figures, unrecorded) = registry::take_figures()?;
        REPORTED.store(0, Relaxed);
        Some(events::hand_out(|| Report::collect(&figures, unrecorded)))
    })
}

/// The sums of all threads alone, without what takes time to find out.
pub(super) fn sums() -> Report {
    collecting(|| {
        let figures = registry::figures()?;
        let (callsites, numbers) = collect_callsites(&figures, &Clock::default());
        Some(Report {
            process: Process::collect(),
            contexts: collect_contexts(&figures.tree, &numbers),
            callsites,
            unrecorded_calls: registry::unrecorded(),
            ..Report::default()
        })
    })
}

/// What `collect` gives; a report of nothing from within the runtime's own work, on which this must not wait, nor allocate.
fn collecting(collect: impl FnOnce() -> Option<Report>) -> Report {
    registry::do_what_was_put_off();
    let report = thread::this().enter_report().and_then(|_reporting| {
        let began = registry::begin_report();
        let report = collect();
        // To an annotated function around this call, all of that is overhead.
        registry::add_cost_of_report(began);
        report
    });
    registry::do_what_was_put_off();
    report.unwrap_or_default()
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

/// The last report of a process, if there is anything that was not reported.
pub(super) fn report_at_end(ended: Ended) {
    let _turn = output::turn();
    // A process of which all is left out says that.
    let started = started();
    let is_reported =
        started <= REPORTED.load(Relaxed) && (started != 0 || registry::left_out().is_empty());
    if settings().form == Form::Off || is_reported {
        return;
    }
    let mut report = snapshot();
    report.process.ended = Some(ended);
    REPORTED.fetch_max(report.started(), Relaxed);
    output::print(&report);
}

/// Calls that have started so far.
fn started() -> u64 {
    registry::totals()
        .unwrap_or_default()
        .iter()
        .map(|(_, totals)| totals.calls() + totals.running)
        .sum()
}

/// Forgets all that was recorded so far, on all threads.
///
/// A call in flight counts in full when it returns, with its time before the reset. In a signal handler that has interrupted the
/// runtime's own work it takes effect after that, and before the next report at the latest; in others it is as unsafe as the allocator.
/// [`take`] does the same and says what it has forgotten.
pub fn reset() {
    if let Some(_reporting) = thread::this().enter_report() {
        output::keep();
    }
    registry::reset();
    events::forget();
    REPORTED.store(0, Relaxed);
}

/// Why annotated functions of a crate that was built like this one are not measured; `None` if they are.
const fn not_on() -> Option<&'static str> {
    if cfg!(feature = "release-builds") {
        None
    } else if cfg!(not(feature = "debug-builds")) {
        Some("tsc-runtime was built with neither `debug-builds` nor `release-builds`")
    } else if cfg!(debug_assertions) {
        None
    } else {
        Some(
            "release builds are measured with the feature `release-builds` of tsc-runtime, which this one was built without",
        )
    }
}

impl Report {
    fn collect(figures: &Figures, unrecorded_calls: u64) -> Self {
        let totals = &figures.callsites;
        let measured = !totals.is_empty();
        if measured {
            overhead::recalibrate();
        }
        let rate = measured.then(|| calibration::rate().ok()).flatten();
        let clock = Clock::collect(totals, rate.as_ref());
        let (callsites, numbers) = collect_callsites(figures, &clock);
        Self {
            process: Process::collect(),
            meta: settings().meta.clone(),
            machine: MachineReport::collect(),
            contexts: collect_contexts(&figures.tree, &numbers),
            callsites,
            clock,
            nothing_because: not_on().filter(|_| !measured).map(str::to_owned),
            left_out: registry::left_out(),
            unrecorded_calls,
            ..Self::default()
        }
    }

    /// Calls that have started, whether they have returned or not.
    pub(super) fn started(&self) -> u64 {
        self.callsites
            .iter()
            .map(|callsite| callsite.calls + callsite.running)
            .sum()
    }
}
