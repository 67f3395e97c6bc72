//! Writes to standard error without std's lock and without a panic, because this library runs in other people's programs.
//!
//! A program may close standard error, and the next file that it opens then has number 2. So the file that was standard error when the
//! process began to measure is remembered, and nothing is written to any other.

/// Writes one line, with the prefix `tsc: `.
#[cfg(not(all(fuzzing, feature = "__fuzzing")))] // which has one of its own
pub(crate) fn complain(what: &str) {
    write(&format!("tsc: {what}\n"));
}

#[cfg(all(unix, not(miri)))]
pub(crate) use of_unix::{remember, write};

#[cfg(all(unix, not(miri)))]
mod of_unix {
    use std::io;

    use once_cell::race::OnceBox;

    use crate::environment::{stream, without_write_signals};
    use crate::process::FileIdentity;

    const NUMBER: libc::c_int = 2;

    /// What standard error is; `None` if it is closed.
    static FILE: OnceBox<Option<FileIdentity>> = OnceBox::new();

    /// Remembers what standard error is, unless that is known.
    pub(crate) fn remember() {
        file();
    }

    fn file() -> Option<FileIdentity> {
        *FILE.get_or_init(|| Box::new(FileIdentity::of(NUMBER)))
    }

    /// Writes without std's lock of standard error: in the child of a fork, a thread that does not exist there may hold it. What nobody
    /// reads in time is left out, which is said if possible. This allocates nothing, once standard error is known.
    pub(crate) fn write(text: &str) {
        let same = file().zip(FileIdentity::of(NUMBER));
        if !same.is_some_and(|(then, now)| now.may_be(then)) {
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
