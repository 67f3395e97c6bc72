//! Standard error, as a guest in somebody else's program writes to it: without std's lock, and without a panic.

use std::io::{self, Write};

/// One line, with `tsc: ` before it.
pub(crate) fn complain(what: &str) {
    write(&format!("tsc: {what}\n"));
}

/// Past std's lock of stderr, which a thread that a fork has left behind may hold; a closed stderr is nobody's error.
#[cfg(unix)]
pub(crate) fn write(text: &str) {
    use super::without_write_signals;
    use std::os::fd::FromRawFd;
    // SAFETY: descriptor 2 is written to and, for all that is known, open; ManuallyDrop keeps it so.
    let mut stderr = std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(2) });
    let _: io::Result<()> = without_write_signals(|| stderr.write_all(text.as_bytes()));
}

/// A closed stderr is nobody's error.
#[cfg(not(unix))]
pub(crate) fn write(text: &str) {
    let _: io::Result<()> = io::stderr().write_all(text.as_bytes());
}
