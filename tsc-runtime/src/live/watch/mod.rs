//! Makes reports while the program runs, and when a signal ends it. A thread of its own makes them, because a signal handler may do almost
//! nothing.

#[cfg(unix)]
mod semaphore;
#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(not(unix), path = "other.rs")]
mod system;

use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use super::settings::{Form, Settings, settings};
use super::snapshot::{REPORTED, report_at_end, started_in};
use super::{output, snapshot};
use crate::environment;
use crate::tsc::os_clock;
use tsc_report::Ended;

/// What the system reserves for the thread, which makes reports.
const STACK: usize = 2 << 20;

/// Whether the thread has been started in this process. The child of a fork starts from false.
static BEGUN: AtomicBool = AtomicBool::new(false);

/// Starts the thread, if reports are wanted and it has not been started.
pub(super) fn begin() {
    if BEGUN.load(Relaxed) || BEGUN.swap(true, Relaxed) {
        return;
    }
    // The thread would keep Miri from ending.
    if settings().form != Form::Off && cfg!(not(miri)) {
        system::begin(settings());
    }
}

/// Forgets the thread in the child of a fork, which does not have it.
#[cfg(all(unix, not(miri)))] // no process is forked elsewhere
pub(super) fn start_from_zero() {
    if BEGUN.swap(false, Relaxed) {
        system::start_from_zero();
    }
}

/// Why the thread was woken.
#[allow(dead_code)] // systems other than Unix have no signals
enum Request {
    /// The time between two reports has passed, or a signal asks for a report.
    Report,
    /// This signal ends the process.
    End(i32),
}

/// Makes a report for each request, as long as the process lives.
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
        if due.is_some_and(|due| os_clock::now() >= due) {
            report_now(settings);
            due = period.map(|period| os_clock::now() + period);
        }
    }
}

/// Makes a report of everything so far. The process continues.
fn report_now(settings: &Settings) {
    let _ = catch_unwind(|| {
        let _turn = output::turn();
        let report = snapshot();
        if report.callsites.is_empty() {
            return;
        }
        output::print(&report);
        // A file gets another report at the end, which says how the process ended. Standard error does not need the same rows twice.
        if settings.file.is_none() {
            REPORTED.fetch_max(started_in(&report), Relaxed);
        }
    });
}

/// Makes the last report, and then lets the signal do what it does by default.
fn end_by(signal: i32) {
    environment::patience::hurry();
    let _ = catch_unwind(|| {
        report_at_end(Ended {
            reason: "signal".to_owned(),
            signal: Some(system::name(signal)),
            ..Ended::default()
        });
    });
    system::end_by(signal);
}
