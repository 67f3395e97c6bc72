//! The destination and the form of a report.

mod destination;
mod file;
mod patience;
pub(super) mod pattern;
mod terminal;

use std::io;
use std::path::Path;

use parking_lot::{Mutex, MutexGuard};

use super::settings::{Form, Settings, settings};
use crate::environment::{complain, without_write_signals, write_to_stderr};
use crate::process::PerProcess;
use tsc_report::{Report, TextForm, TextOptions};

pub(super) use file::{end, keep};

static TURN: PerProcess<Mutex<()>> = PerProcess::new();

/// Waits until no other thread writes a report, but not for ever. After the wait it is known what the other one has reported.
pub(super) fn turn() -> Option<MutexGuard<'static, ()>> {
    patience::retry(|| TURN.get(|| {}).try_lock())
}

/// Resets the lock, in the child of a fork.
#[cfg(all(unix, not(miri)))] // no process is forked elsewhere
pub(super) fn start_from_zero() {
    TURN.forget();
    file::start_from_zero();
}

/// Prints `report` as the environment variables require.
pub(super) fn print(report: &Report) {
    let settings = settings();
    if settings.form == Form::Off {
        return;
    }
    let Some(path) = &settings.file else {
        let options = text_options(settings, form_of_text(settings.form));
        return write_to_stderr(&render(report, settings.form, &on_terminal(options)));
    };
    let path = pattern::expand(path);
    let options = text_options(settings, form_of_text(settings.form));
    let text = render(report, settings.form, &options);
    match without_write_signals(|| file::write_own(Path::new(&path), &text)) {
        Ok(None) => {}
        Ok(Some(instead)) => complain(&format!(
            "{} was written by another process, so this report is in {} (use %p, the process's number, in TSC_REPORT_FILE)",
            path.display(),
            instead.display()
        )),
        Err(why) => {
            complain(&format!(
                "cannot write TSC_REPORT_FILE={}: {why}. The report follows:",
                path.display()
            ));
            let options = text_options(settings, TextForm::Short);
            write_to_stderr(&report.text(&on_terminal(options)));
        }
    }
}

/// Writes a report of everything so far to the file `path`. If the path ends in `.json`, it is JSON (with the feature `json`), otherwise
/// text in the full form.
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
/// The path ends in `.json`, but the feature `json` is missing.
pub fn dump_to(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    let is_json = path
        .extension()
        .is_some_and(|extension| extension == "json");
    if is_json && cfg!(not(feature = "json")) {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "JSON needs the feature `json` of tsc-runtime",
        ));
    }
    let form = if is_json {
        Form::Json
    } else {
        Form::Text(TextForm::Full)
    };
    let report = super::snapshot();
    let text = render(&report, form, &text_options(settings(), TextForm::Full));
    without_write_signals(|| file::write(path, &text))
}

fn render(report: &Report, form: Form, options: &TextOptions) -> String {
    match form {
        #[cfg(feature = "json")]
        Form::Json => report.to_json() + "\n",
        _ => report.text(options),
    }
}

fn form_of_text(form: Form) -> TextForm {
    match form {
        Form::Text(form) => form,
        Form::Json | Form::Off => TextForm::Short,
    }
}

fn text_options(settings: &Settings, form: TextForm) -> TextOptions {
    let options = TextOptions::default()
        .form(form)
        .unit(settings.unit)
        .sort(settings.sort);
    match settings.top {
        Some(rows) => options.top(rows),
        None => options,
    }
}

/// Uses the width of the terminal that standard error is, and colour if it is one.
fn on_terminal(options: TextOptions) -> TextOptions {
    let options = match terminal::width() {
        Some(width) => options.width(width),
        None => options,
    };
    options.colour(terminal::has_colour())
}
