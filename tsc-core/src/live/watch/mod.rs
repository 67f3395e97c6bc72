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
use super::{output, snapshot};
use crate::environment::complain;
use crate::tsc::os_clock;

/// What the system reserves for the thread, which makes reports.
const STACK: usize = 2 << 20;

/// Whether the thread has been started in this process. The child of a fork starts from false.
static BEGUN: AtomicBool = AtomicBool::new(false);

/// Starts the thread, if reports are wanted and it has not been started.
pub(super) fn begin() {
    if BEGUN.swap(true, Relaxed) {
        return;
    }
    // The thread would keep Miri from ending.
    if settings().form != Form::Off && cfg!(not(miri)) {
        system::begin(settings());
    }
}

/// Says that the thread could not be started, if the user has asked for what it does. Otherwise nothing may need it.
fn complain_if_wanted(settings: &Settings, why: &std::io::Error) {
    if settings.every.is_some() || settings.dump_signal.is_some() {
        complain(&format!(
            "TSC_REPORT_EVERY and TSC_DUMP_SIGNAL have no effect: no thread can be started: {why}"
        ));
    }
}

/// Forgets the thread in the child of a fork, which does not have it.
#[cfg(all(unix, not(miri)))] // no process is forked elsewhere
pub(super) fn start_from_zero() {
    if BEGUN.swap(false, Relaxed) {
        system::start_from_zero();
    }
}

/// Makes a report whenever the time between two has passed, as long as the process lives. `wait` waits for that time, or until something
/// else is to be done, and does it.
fn watch(settings: &Settings, wait: impl Fn(Option<Duration>)) {
    let period = |every: Duration| u64::try_from(every.as_nanos()).unwrap_or(u64::MAX);
    let next = || Some(os_clock::now().saturating_add(period(settings.every?)));
    let mut due = next();
    loop {
        wait(due.map(|due| Duration::from_nanos(due.saturating_sub(os_clock::now()))));
        if due.is_some_and(|due| os_clock::now() >= due) {
            report_now();
            due = next();
        }
    }
}

/// Makes a report of everything so far. The process continues, and still reports at its end: calls that are running now are not in this
/// report.
fn report_now() {
    let _ = catch_unwind(|| {
        let _turn = output::turn();
        let report = snapshot();
        if !report.callsites.is_empty() {
            output::print(&report);
        }
    });
}
