//! Writes to standard error without std's lock and without a panic, because this library runs in other people's programs.
//!
//! A program may close standard error, and the next file that it opens then has number 2. So the file that was standard error when the
//! process began to measure is remembered, and nothing is written to any other.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Whether this text was never asked about before, as far as there is room for a mark of it. While fuzzing, each input is a process of its own.
pub(super) fn is_new(text: &str) -> bool {
    static MARKS: [AtomicU64; 32] = [const { AtomicU64::new(0) }; 32];
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    // 0 is an empty place.
    let mark = hasher.finish() | 1;
    let places = MARKS
        .iter()
        .map(|place| place.compare_exchange(0, mark, Relaxed, Relaxed));
    let mut places = places.filter(|place| place.is_ok() || *place == Err(mark));
    cfg!(fuzzing) || places.next().is_none_or(|place| place.is_ok())
}

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

#[cfg(test)]
mod tests {
    use super::is_new;

    #[test]
    fn text_is_new_to_one_of_many_threads() {
        let all = std::sync::Barrier::new(8);
        let is_new_to_a_thread = || {
            all.wait();
            is_new("a complaint of all threads")
        };
        let new = std::thread::scope(|scope| {
            let threads = [(); 8].map(|()| scope.spawn(is_new_to_a_thread));
            let said = threads.map(|thread| thread.join().expect("it does not panic"));
            said.into_iter().filter(|&is_new| is_new).count()
        });
        assert_eq!(new, 1);
        assert!(is_new("another complaint"));
    }
}
