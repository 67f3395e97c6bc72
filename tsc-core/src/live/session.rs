//! The report of a part of the program's run.

use std::sync::atomic::Ordering::Relaxed;

use super::settings::{Form, settings};
use super::snapshot::{REPORTED, collect_now, printing, started_in, sums};
use super::{output, snapshot};
use tsc_report::Report;

/// A part of the program's run. It begins with [`session`] and ends when this value is dropped, which prints its report.
#[derive(Debug)]
#[must_use = "a session lasts until it is dropped"]
pub struct Session {
    begin: Report,
}

/// Begins a session. When the returned guard is dropped, it prints a report of what has happened on all threads since the session began,
/// in the way in which `report` prints. Sessions may follow each other, be nested, and run on different threads.
///
/// A call that is running when the session begins, and returns during it, is reported with all of its time. If sessions have reported
/// everything as text, and no call was running when they ended, there is no other report at the end of the process. As JSON there is one,
/// which contains them, because they may overlap.
///
/// ```no_run
/// # fn load() {}
/// # fn serve() {}
/// let warm_up = tsc_runtime::session();
/// load();
/// drop(warm_up); // prints what `load` took
/// let _serving = tsc_runtime::session();
/// serve();
/// ```
pub fn session() -> Session {
    Session { begin: sums() }
}

impl Session {
    /// A report of what has happened since the session began, or since the last `reset` in it.
    #[must_use]
    pub fn report(&self) -> Report {
        let now = snapshot();
        now.since(&self.begin).unwrap_or(now)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _turn = output::turn();
        printing(|| {
            let now = collect_now()?;
            let started = started_in(&now);
            let is_running = now.callsites.iter().any(|of| of.sums.running != 0);
            let is_text = settings().form != Form::Json;
            let was_reported = started_in(&self.begin) <= REPORTED.load(Relaxed);
            if is_text && was_reported {
                output::keep(); // this session's report does not contain what was reported before it
            }
            output::print(&now.since(&self.begin).unwrap_or(now));
            output::keep();
            if !is_text {
                // Who adds up data needs a report that contains the sessions, because they may overlap.
                REPORTED.store(0, Relaxed);
            } else if was_reported && !is_running {
                REPORTED.fetch_max(started, Relaxed); // everything is reported now
            }
            Some(())
        });
    }
}
