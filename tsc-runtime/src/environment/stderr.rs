//! Writes to standard error without std's lock and without a panic, because this library runs in other people's programs.

use std::io::{self, Write};

/// Writes one line, with the prefix `tsc: `.
#[cfg(not(fuzzing))]
pub(crate) fn complain(what: &str) {
    write(&format!("tsc: {what}\n"));
}

#[cfg(fuzzing)]
static COMPLAINTS: parking_lot::Mutex<Vec<String>> = parking_lot::Mutex::new(Vec::new());

/// Keeps the line for [`take_complaints`].
#[cfg(fuzzing)]
pub(crate) fn complain(what: &str) {
    COMPLAINTS.lock().push(what.to_owned());
}

/// Returns the lines since the last call.
#[cfg(fuzzing)]
pub(crate) fn take_complaints() -> Vec<String> {
    std::mem::take(&mut *COMPLAINTS.lock())
}

/// Writes without std's lock of standard error: in the child of a fork, a thread that does not exist there may hold it. A closed standard
/// error is ignored.
#[cfg(unix)]
pub(crate) fn write(text: &str) {
    use super::without_write_signals;
    use std::os::fd::FromRawFd;
    // SAFETY: descriptor 2 is only written to. If it is closed, the write fails. ManuallyDrop keeps it open.
    let mut stderr = std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(2) });
    let _: io::Result<()> = without_write_signals(|| stderr.write_all(text.as_bytes()));
}

/// A closed standard error is ignored.
#[cfg(not(unix))]
pub(crate) fn write(text: &str) {
    let _: io::Result<()> = io::stderr().write_all(text.as_bytes());
}
