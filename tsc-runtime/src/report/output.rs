//! Where a report goes, and in what form: `TSC_REPORT` and `TSC_REPORT_FILE`.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::Report;

/// What `TSC_REPORT` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    /// Text with every correction, and the interrupted calls.
    Full,
    Json,
    /// No dump at exit; `report()` prints text all the same.
    Off,
}

impl Form {
    /// Reads `TSC_REPORT`, and complains of a value it does not know.
    pub(super) fn from_environment() -> Self {
        let value = std::env::var_os("TSC_REPORT").unwrap_or_default();
        match value.to_str() {
            Some("" | "text") => Self::Text,
            Some("full") => Self::Full,
            Some("json") => Self::Json,
            Some("off") => Self::Off,
            _ => {
                complain(&format!(
                    "TSC_REPORT={} is not known: use text, full, json or off. This is text:",
                    value.display()
                ));
                Self::Text
            }
        }
    }
}

/// Prints `report` as the environment asks.
pub(super) fn print(report: &Report) {
    print_as(report, Form::from_environment());
}

pub(super) fn print_as(report: &Report, form: Form) {
    let text = match form {
        Form::Text | Form::Off => report.to_string(),
        Form::Full => format!("{report:#}"),
        Form::Json => json(report).unwrap_or_else(|why| {
            complain(&why);
            report.to_string()
        }),
    };
    match std::env::var_os("TSC_REPORT_FILE").filter(|path| !path.is_empty()) {
        Some(path) => write_to(&path, &text),
        None => write_to_stderr(&text),
    }
}

#[cfg(feature = "json")]
#[allow(clippy::unnecessary_wraps)] // fails without the feature
fn json(report: &Report) -> Result<String, String> {
    Ok(report.to_json() + "\n")
}

#[cfg(not(feature = "json"))]
fn json(_: &Report) -> Result<String, String> {
    Err("TSC_REPORT=json needs the feature `json` of tsc-runtime. This is text:".to_owned())
}

/// The process's first report makes the file anew, further ones go to its end.
fn write_to(path: &OsString, text: &str) {
    static BEGUN: AtomicBool = AtomicBool::new(false);
    let begun = BEGUN.swap(true, Relaxed);
    let mut options = OpenOptions::new();
    options
        .create(true)
        .write(true)
        .append(begun)
        .truncate(!begun);
    let written = options
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    if let Err(why) = written {
        complain(&format!(
            "cannot write TSC_REPORT_FILE={}: {why}. So here:",
            Path::new(path).display()
        ));
        write_to_stderr(text);
    }
}

/// One line on stderr.
pub(super) fn complain(what: &str) {
    write_to_stderr(&format!("tsc: {what}\n"));
}

/// Past std's lock of stderr, which a thread that a fork has left behind may hold; a closed stderr is nobody's error.
#[cfg(unix)]
fn write_to_stderr(text: &str) {
    use std::os::fd::FromRawFd;
    // SAFETY: descriptor 2 is written to and, for all that is known, open; ManuallyDrop keeps it so.
    let mut stderr = std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(2) });
    let _: io::Result<()> = stderr.write_all(text.as_bytes());
}

#[cfg(not(unix))]
fn write_to_stderr(text: &str) {
    let _: io::Result<()> = io::stderr().write_all(text.as_bytes());
}
