//! Reports while the program runs, and when a signal ends it: a thread waits for what asks for them, since a signal handler may do
//! next to nothing.

#[cfg(unix)]
mod semaphore;
#[cfg(unix)]
mod signals;
#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(not(unix), path = "other.rs")]
mod system;

use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use super::settings::{Form, Settings, settings};
use super::snapshot::{REPORTED, report_at_end};
use super::{Ended, output, snapshot};
use crate::tsc::os_clock;

/// In this process, which may be the child of one that has begun.
static BEGUN: AtomicBool = AtomicBool::new(false);

/// Begins to watch, if that is asked for and has not begun.
pub(super) fn begin() {
    if BEGUN.load(Relaxed) || BEGUN.swap(true, Relaxed) {
        return;
    }
    // A thread that waits would keep Miri from ending.
    if settings().form != Form::Off && cfg!(not(miri)) {
        system::begin(settings());
    }
}

/// In the child of a fork, which has one thread alone.
#[cfg(all(unix, not(miri)))] // elsewhere no process is forked
pub(super) fn start_from_zero() {
    if BEGUN.swap(false, Relaxed) {
        system::start_from_zero();
    }
}

/// Why the thread was woken.
#[allow(dead_code)] // there are no signals where no Unix is
enum Request {
    /// The time between two reports has passed, or somebody waits for one.
    Report,
    /// This signal ends the process.
    End(i32),
}

/// Makes reports as they are asked for, as long as the process lives.
fn watch(settings: &Settings, wait: impl Fn(Option<Duration>) -> Vec<Request>) {
    let period = settings.every.map(|every| every.as_nanos() as u64);
    let mut due = period.map(|period| os_clock::now() + period);
    loop {
        let left = due.map(|due| Duration::from_nanos(due.saturating_sub(os_clock::now())));
        for request in wait(left) {
            match request {
                Request::Report => report_now(settings),
                Request::End(signal) => end_by(signal),
            }
        }
        if let (Some(time), Some(period)) = (due, period)
            && os_clock::now() >= time
        {
            report_now(settings);
            due = Some(os_clock::now() + period);
        }
    }
}

/// A report of everything so far; the process goes on.
fn report_now(settings: &Settings) {
    let _ = catch_unwind(|| {
        let _turn = output::turn();
        let report = snapshot();
        if report.callsites.is_empty() {
            return;
        }
        output::print(&report);
        // A file has the last report with how the process ended; stderr need not have the same rows twice.
        if settings.file.is_none() {
            REPORTED.fetch_max(report.started(), Relaxed);
        }
    });
}

/// The last report, and then what the signal does by default.
fn end_by(signal: i32) {
    let _ = catch_unwind(|| {
        report_at_end(Ended {
            reason: "signal".to_owned(),
            signal: Some(system::name(signal).to_owned()),
            ..Ended::default()
        });
    });
    system::end_by(signal);
}
