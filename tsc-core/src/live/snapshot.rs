//! Makes reports from the contents of the registry.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::collect::process::{begin_anew, collect_process};
use super::collect::{
    callsite::collect_callsites, clock::collect_clock, contexts::collect_contexts,
    tick_clock::collect_tick_clock,
};
use super::output;
use super::settings::{Form, form_of_file, settings};
use crate::calibration::overhead;
use crate::environment::write_to_stderr;
use crate::machine::machine;
use crate::record::callsite::Meta;
use crate::record::{slowest, thread};
use crate::registry::{self, Recorded};
use crate::{affinity, calibration, events, gate};
use tsc_report::{CallsiteSums, Clock, Ended, MachineReport, Report, TextForm};

/// The number of calls that had at least started when the last report was made.
pub(super) static REPORTED: AtomicU64 = AtomicU64::new(0);

/// Returns the figures of all threads as they are now.
///
/// It may be called on any thread, also while other threads record. It takes a few milliseconds, because it measures the probes' overhead
/// again. If the process began to measure less than 4 ms ago, it takes up to 4 ms more to measure the counter's rate. Calls that are
/// still running are not included, but are counted in [`CallsiteReport::running`](crate::CallsiteReport::running).
///
/// The function allocates, so it must not be called in a signal handler that may interrupt the allocator. In a signal handler that has
/// interrupted the runtime's own work, or an allocator that this work has called, the report has no callsites.
///
/// ```
/// use tsc_runtime::cycles;
///
/// #[cycles(name = "double")]
/// fn double(x: u32) -> u32 {
///     2 * x
/// }
///
/// assert_eq!(double(21), 42);
/// let report = tsc_runtime::snapshot();
/// if let Some(row) = report.callsite("double") {
///     assert_eq!(row.calls(), 1);
/// }
/// println!("{report}");
/// ```
#[must_use]
pub fn snapshot() -> Report {
    making_report(collect_now).unwrap_or_default()
}

/// Returns the figures of all threads as they are now, and resets them: a [`snapshot`] and a [`reset`], without losing a call in between.
///
/// Of several such reports, each call is in exactly one: the first one after its return. So their counts and totals add up exactly. A call
/// that is running is in a later report, with all of its time.
///
/// ```no_run
/// loop {
///     std::thread::sleep(std::time::Duration::from_secs(60));
///     println!("the last minute: {}", tsc_runtime::take());
/// }
/// ```
#[must_use]
pub fn take() -> Report {
    let taken = making_report(|| {
        output::keep();
        registry::as_report(|| {
            let figures = registry::take_figures()?;
            REPORTED.store(0, Relaxed);
            let report = collect(&figures);
            begin_anew(Some(&report.process));
            Some(report)
        })
    });
    taken.unwrap_or_default()
}

/// The sums of all threads, without anything that takes time to determine.
pub(super) fn sums() -> Report {
    let sums = || Some(collect_sums(&registry::figures()?, Clock::default));
    making_report(|| registry::as_report(sums)).unwrap_or_default()
}

/// The result of `make`, which may also write the report.
///
/// Everything that allocates for a report is done in here, with a mark that keeps signal handlers which interrupt it from allocating for
/// their first calls, or for a `reset`.
///
/// # Errors
///
/// `ResourceBusy` inside the runtime's own work, where nothing may wait or allocate, and `OutOfMemory`.
pub(super) fn making_report<T>(make: impl FnOnce() -> Option<T>) -> Result<T, ErrorKind> {
    registry::do_what_was_put_off();
    let made = thread::this().enter_report().map(|_reporting| {
        match registry::room::is_left_for_report() {
            true => make().ok_or(ErrorKind::ResourceBusy),
            false => Err(ErrorKind::OutOfMemory),
        }
    });
    registry::do_what_was_put_off();
    made.unwrap_or(Err(ErrorKind::ResourceBusy))
}

/// The same for what is printed. If there is no memory, a line says so.
pub(super) fn printing(print: impl FnOnce() -> Option<()>) {
    if making_report(print) == Err(ErrorKind::OutOfMemory) {
        write_to_stderr("tsc: no memory for a report\n");
    }
}

/// The figures of all threads as they are now.
pub(super) fn collect_now() -> Option<Report> {
    registry::as_report(|| Some(collect(&registry::figures()?)))
}

/// Prints the figures of all threads as they are now: see [`snapshot`].
///
/// Environment variables determine the form and the destination, by default text on standard error: see the table in `docs/variables.md`.
/// If no further calls have started since, the program prints no other report at its end.
///
/// ```
/// # tsc_runtime::cycles_block!("step", {});
/// tsc_runtime::report();
/// ```
pub fn report() {
    printing(|| print_now(None));
}

/// Prints everything so far. `ended` is how the process ends, if it does.
fn print_now(ended: Option<Ended>) -> Option<()> {
    let mut report = collect_now()?;
    report.process.ended = ended;
    output::print(&report);
    // Not earlier: the process may end on another thread meanwhile, and then that one must report.
    REPORTED.fetch_max(started_in(&report), Relaxed);
    Some(())
}

/// Writes a report of everything so far to the file `path`. If the path ends in `.json`, it is JSON, otherwise text in the full form.
///
/// The report is written to another file, which is then renamed. So a reader finds either the old file or the new one, never a part. A
/// program that has called this still prints its report at its end.
///
/// ```no_run
/// tsc_runtime::dump_to("run.txt")?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// The file cannot be written; it is unchanged then. The path is a directory, or a symbolic link in a folder that every user may write to.
/// There is no memory for a report, or this is called in a signal handler that has interrupted one.
pub fn dump_to(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    let written = making_report(|| {
        let form = form_of_file(path.as_os_str(), TextForm::Full);
        Some(output::write_to(path, &collect_now()?, form))
    });
    written.unwrap_or_else(|why| Err(why.into()))
}

/// Makes the last report of a process, if anything was not reported yet.
pub(super) fn report_at_end(ended: impl FnOnce() -> Ended) {
    let _turn = output::turn();
    if settings().form == Form::Off {
        return;
    }
    printing(|| {
        // A process in which every callsite was left out prints that.
        let started = started();
        let is_reported =
            started <= REPORTED.load(Relaxed) && (started != 0 || registry::left_out().is_empty());
        if is_reported {
            return Some(());
        }
        print_now(Some(ended()))
    });
}

/// The number of calls that have started so far.
fn started() -> u64 {
    let figures = registry::figures().unwrap_or_default();
    sum_of_started(figures.callsites.iter().map(|(_, totals)| &totals.sums))
}

/// Resets all figures on all threads.
///
/// A call that is running counts in full when it returns, with its time before the reset. In a signal handler that has interrupted the
/// runtime's own work, the reset takes effect after that work, at the latest before the next report. In other signal handlers it is as
/// unsafe as allocating. [`take`] does the same, and returns the figures.
///
/// ```
/// tsc_runtime::reset(); // leave out the warm-up
/// // … the work in question …
/// tsc_runtime::report();
/// ```
pub fn reset() {
    if let Some(_reporting) = thread::this().enter_report() {
        output::keep();
    }
    registry::reset();
    begin_anew(None);
    events::forget();
    REPORTED.store(0, Relaxed);
}

fn collect(figures: &Recorded) -> Report {
    let totals = &figures.callsites;
    let measured = !totals.is_empty();
    let sums = collect_sums(figures, || {
        if measured {
            calibration::reading_meanwhile();
            overhead::recalibrate();
        }
        collect_clock(totals)
    });
    let against = gate::reason_against().filter(|_| !measured);
    let left_out = registry::left_out();
    let place = |meta: &Meta| format!("{}:{}", meta.file, meta.line);
    Report {
        meta: settings().meta.clone(),
        machine: MachineReport {
            cpus: affinity::cpus().ok().map(|cpus| cpus.len() as u64),
            ..machine().clone()
        },
        nothing_because: against.map(str::to_owned),
        left_out: left_out.iter().map(|it| registry::full_name(it)).collect(),
        left_out_at: left_out.iter().map(|it| place(it.meta())).collect(),
        ..sums
    }
}

/// What was counted, and what follows from it.
fn collect_sums(figures: &Recorded, clock: impl FnOnce() -> Clock) -> Report {
    // First, because what the report itself takes is no part of the program's time.
    let process = collect_process();
    let clock = clock();
    let mut report = Report {
        process,
        contexts: collect_contexts(figures),
        callsites: collect_callsites(figures, &clock),
        slowest_calls: slowest::wanted() as u64,
        tick_clock: collect_tick_clock(figures),
        clock,
        unrecorded_calls: figures.unrecorded,
        ..Report::default()
    };
    report.unite();
    report.derive();
    report
}

/// The number of calls that have started, whether they have returned or not.
pub(super) fn started_in(report: &Report) -> u64 {
    sum_of_started(report.callsites.iter().map(|of| &of.sums))
}

/// A future that was polled has started, whether it completes or not.
fn sum_of_started<'a>(sums: impl Iterator<Item = &'a CallsiteSums>) -> u64 {
    let started = |of: &CallsiteSums| (of.calls() + of.running).max((of.polls != 0).into());
    sums.map(started).sum()
}
