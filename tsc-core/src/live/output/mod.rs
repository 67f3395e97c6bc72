//! The destination and the form of a report.

mod destination;
mod file;
pub(super) mod pattern;
mod terminal;

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::{Mutex, MutexGuard};

use super::collect::process::process_started;
use super::settings::{Form, settings};
use crate::environment::{
    REPORT_FILE, complain, complain_of_misspelt, patience, without_write_signals, write_to_stderr,
};
use crate::process::PerProcess;
use tsc_report::{Report, TextForm, TextOptions};

pub(super) use file::{keep, set_ended};

static TURN: PerProcess<Mutex<()>> = PerProcess::new();

/// Waits until no other thread writes a report, but not for ever. After the wait it is known what the other one has reported.
pub(super) fn turn() -> Option<MutexGuard<'static, ()>> {
    patience::retry(|| TURN.get().try_lock())
}

/// When the first process began to measure that this one comes from by forks; 0 if it is the first one itself. What has been written since then
/// is a report of the same run, even if this process began to measure later.
static RUN_BEGAN: AtomicU64 = AtomicU64::new(0);

/// Resets the lock in the child of a fork, and forgets what the parent has written, but not when it began.
#[cfg(all(unix, not(miri)))] // no process is forked elsewhere
pub(super) fn start_from_zero() {
    if RUN_BEGAN.load(Relaxed) == 0 {
        RUN_BEGAN.store(process_started(), Relaxed);
    }
    TURN.forget();
    file::WRITTEN.forget();
}

/// When this process began to measure, in nanoseconds since 1970; in one that has not, when it was first to report.
fn process_began() -> u64 {
    match process_started() {
        0 => settings().read_at,
        started => started,
    }
}

/// The same of the first process that this one comes from.
fn run_began() -> u64 {
    match RUN_BEGAN.load(Relaxed) {
        0 => process_began(),
        began => began,
    }
}

/// Prints `report` as the environment variables require.
pub(super) fn print(report: &Report) {
    let settings = settings();
    if settings.form == Form::Off {
        return;
    }
    complain_of_misspelt();
    let to_stderr = |form| write_to_stderr(&render(report, form, on_terminal));
    let Some(named) = &settings.file else {
        return to_stderr(settings.form);
    };
    if pattern::has_unknown(named) {
        REPORT_FILE
            .with_default("the path as it is")
            .complain(&named.to_string_lossy(), "has an unknown placeholder");
    }
    let path = settings.folder.join(pattern::expand(named));
    let text = render(report, settings.form, |options| options);
    match without_write_signals(|| file::write_own(&path, &text)) {
        Ok(None) => {}
        Ok(Some(instead)) => {
            let advice = match pattern::has(named, b'p') {
                true => "",
                false => " (use %p, the process's number, in TSC_REPORT_FILE)",
            };
            complain(&format!(
                "{} was written by another process or another library's runtime, so this report is in {}{advice}",
                path.display(),
                instead.display()
            ));
        }
        Err(why) => {
            complain(&format!(
                "cannot write TSC_REPORT_FILE={}: {why}. The report follows:",
                path.display()
            ));
            to_stderr(Form::Text(TextForm::Short));
        }
    }
}

/// Writes `report` to the file `path` in this form.
pub(super) fn write_to(path: &Path, report: &Report, form: Form) -> io::Result<()> {
    let text = render(report, form, |options| options);
    without_write_signals(|| file::write(path, &text))
}

/// The report in this form. `fit` makes text fit where it goes.
fn render(report: &Report, form: Form, fit: fn(TextOptions) -> TextOptions) -> String {
    let Form::Text(form) = form else {
        return report.as_json() + "\n";
    };
    let settings = settings();
    let options = TextOptions::default().form(form).unit(settings.unit);
    report.to_text(&fit(options.sort(settings.sort).top(settings.top)))
}

/// Uses the width of the terminal that standard error is, and colour if it is one.
fn on_terminal(options: TextOptions) -> TextOptions {
    let options = options.color(terminal::has_colour());
    match terminal::width() {
        Some(width) => options.width(width),
        None => options,
    }
}
