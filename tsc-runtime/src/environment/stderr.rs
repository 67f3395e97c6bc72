//! Writes to standard error without std's lock and without a panic, because this library runs in other people's programs.
//!
//! A program may close standard error, and the next file that it opens then has number 2. So the file that was standard error when the
//! process began to measure is remembered, and nothing is written to any other.

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

#[cfg(all(unix, not(miri)))]
pub(crate) use of_unix::{remember, write};

#[cfg(all(unix, not(miri)))]
mod of_unix {
    use std::io;
    use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
    use std::sync::atomic::{AtomicU8, AtomicU64};

    use crate::environment::{stream, without_write_signals};
    use crate::process::FileIdentity;

    const NUMBER: libc::c_int = 2;

    /// What is known of standard error.
    static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
    const UNKNOWN: u8 = 0;
    const CLOSED: u8 = 1;
    const OPEN: u8 = 2;
    static DEVICE: AtomicU64 = AtomicU64::new(0);
    static INODE: AtomicU64 = AtomicU64::new(0);

    /// Remembers what standard error is, unless that is known. Two threads that do so at once remember the same.
    pub(crate) fn remember() {
        if STATE.load(Acquire) != UNKNOWN {
            return;
        }
        let file = FileIdentity::of(NUMBER);
        if let Some(file) = file {
            DEVICE.store(file.device, Relaxed);
            INODE.store(file.inode, Relaxed);
        }
        STATE.store(if file.is_some() { OPEN } else { CLOSED }, Release);
    }

    /// Whether descriptor 2 is what it was.
    fn is_unchanged() -> bool {
        remember();
        let then = FileIdentity {
            device: DEVICE.load(Relaxed),
            inode: INODE.load(Relaxed),
        };
        STATE.load(Acquire) == OPEN && FileIdentity::of(NUMBER) == Some(then)
    }

    /// Writes without std's lock of standard error: in the child of a fork, a thread that does not exist there may hold it. What nobody
    /// reads in time is left out, which is said if possible. This allocates nothing.
    pub(crate) fn write(text: &str) {
        if !is_unchanged() {
            return;
        }
        without_write_signals(|| {
            if let Err((_, why)) = stream::write_all(NUMBER, text.as_bytes())
                && why.kind() == io::ErrorKind::TimedOut
            {
                let cut = b"\ntsc: the end is missing, because nobody read standard error\n";
                stream::try_to_write(NUMBER, cut);
            }
        });
    }
}

/// Standard error has no number here that another file could get.
#[cfg(not(all(unix, not(miri))))]
pub(crate) fn remember() {}

/// A closed standard error is ignored.
#[cfg(not(all(unix, not(miri))))]
pub(crate) fn write(text: &str) {
    use std::io::{self, Write};
    let _: io::Result<()> = io::stderr().write_all(text.as_bytes());
}
