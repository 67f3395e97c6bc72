//! Writes a file so that no reader finds an incomplete one, and so that no process overwrites another one's report.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

use parking_lot::{Mutex, MutexGuard};

use super::destination::{Destination, folder};
use super::run_began;
use crate::environment::patience;
use crate::process::{FileIdentity, PerProcess};
use crate::tsc::os_clock;

/// What this process has written to its file.
#[derive(Default)]
pub(super) struct Written {
    /// The requested path, and the path that was written instead or just there.
    place: Option<(PathBuf, PathBuf)>,
    identity: Option<FileIdentity>,
    /// Earlier reports that the latest one does not contain, because there was a reset.
    kept: String,
    latest: String,
    /// The process is ending, and nothing more is written.
    ended: bool,
}

impl Written {
    /// Whether the file there is the one that this process has written.
    fn is_at(&self, place: &Path) -> bool {
        self.identity.is_some() && FileIdentity::at(place) == self.identity
    }
}

pub(super) static WRITTEN: PerProcess<Mutex<Written>> = PerProcess::new();

/// A file of at least this many bytes is not written again for each report that follows a reset.
const LONG: usize = 1 << 20;

/// At most so many unfinished files are passed over.
const LEFT_BEHIND: u32 = 100;

/// File systems take times from a clock that may be late by this much.
const COARSE_CLOCK_NS: u64 = 10_000_000;

/// `None` if another thread has been writing for too long.
fn written() -> Option<MutexGuard<'static, Written>> {
    patience::retry(|| WRITTEN.get().try_lock())
}

/// Keeps the reports so far in the file, because a reset follows and the next report will not contain them.
pub(in crate::live) fn keep() {
    if let Some(mut written) = written() {
        let latest = std::mem::take(&mut written.latest);
        written.kept += &latest;
    }
}

/// Prevents further reports after the one at the process's end, or permits one more.
pub(in crate::live) fn set_ended(ended: bool) {
    if let Some(mut written) = written() {
        written.ended = ended;
    }
}

/// Writes `text` to this process's file. It replaces the process's earlier report, unless there was a reset in between. If another process
/// has written the file, `text` goes to a file beside it, whose path is returned.
pub(super) fn write_own(path: &Path, text: &str) -> io::Result<Option<PathBuf>> {
    const BUSY: &str = "another thread has been writing it for too long";
    let mut written = written().ok_or_else(|| io::Error::other(BUSY))?;
    if written.ended {
        return Ok(None);
    }
    let Destination::File(target) = Destination::of(path)? else {
        return write_to_stream(path, text).map(|()| None);
    };
    if append(&mut written, path, text)? {
        return Ok(None);
    }
    let contents = format!("{}{text}", written.kept);
    let beside = Beside::write(&target, &contents)?;
    let _lock = lock(folder(&target));
    let mut place = match &written.place {
        Some((asked, place)) if asked == path => place.clone(),
        _ => target.clone(),
    };
    let is_taken = !written.is_at(&place) && is_another_process_s(&place);
    if is_taken {
        place = own_name(&target);
    }
    beside.rename(&place)?;
    written.identity = FileIdentity::at(&place);
    written.place = Some((path.to_owned(), place.clone()));
    text.clone_into(&mut written.latest);
    Ok(is_taken.then_some(place))
}

/// Adds `text` to a long file that contains what is to be kept and nothing else, because it would take ever longer to write everything
/// again. Returns whether this was possible.
fn append(written: &mut Written, path: &Path, text: &str) -> io::Result<bool> {
    let Some((asked, place)) = &written.place else {
        return Ok(false);
    };
    let length = written.kept.len();
    if asked != path || length < LONG || !written.latest.is_empty() {
        return Ok(false);
    }
    let _lock = lock(folder(place));
    let is_own = written.is_at(place);
    let is_kept = |file: &File| file.metadata().is_ok_and(|it| it.len() == length as u64);
    let opened = OpenOptions::new().append(true).open(place);
    let Some(mut file) = opened.ok().filter(|file| is_own && is_kept(file)) else {
        return Ok(false);
    };
    let added = file.write_all(text.as_bytes());
    let added = added.and_then(|()| file.sync_data());
    if added.is_err() {
        let _: io::Result<()> = file.set_len(length as u64);
    }
    written.identity = FileIdentity::at(place);
    added?;
    text.clone_into(&mut written.latest);
    Ok(true)
}

/// Replaces the contents of the file by `text`.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    match Destination::of(path)? {
        Destination::File(target) => Beside::write(&target, text)?.rename(&target),
        Destination::Stream => write_to_stream(path, text),
    }
}

/// A finished file that does not have its final name yet. It is removed if it does not get that name.
struct Beside(PathBuf);

impl Beside {
    fn write(target: &Path, text: &str) -> io::Result<Self> {
        // Processes with the same number, as in containers, may have been killed in here.
        let is_there = |made: &io::Result<_>| {
            made.as_ref()
                .is_err_and(|error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists)
        };
        let mut attempts = (0..LEFT_BEHIND).map(|_| Self::create(target));
        let made = attempts.find(|made| !is_there(made));
        let (beside, mut file) = made.unwrap_or_else(|| Self::create(target))?;
        file.write_all(text.as_bytes())?;
        // On a full disk, some file systems only report an error here.
        file.sync_data()?;
        Ok(beside)
    }

    /// A new file: no link or file that somebody has put there is used.
    fn create(target: &Path) -> io::Result<(Self, File)> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let mut name = OsString::from(".");
        name.push(target.file_name().unwrap_or_default());
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        name.push(format!(".{}-{number}.tmp", crate::process::id()));
        let path = target.with_file_name(name);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)?;
        Ok((Self(path), file))
    }

    fn rename(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.0, target)?;
        drop(std::mem::take(&mut self.0));
        std::mem::forget(self);
        Ok(())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _: io::Result<()> = fs::remove_file(&self.0);
    }
}

/// Whether another process has written the file since this process, or the one that it was forked from, began to measure.
fn is_another_process_s(path: &Path) -> bool {
    let began = run_began();
    let Ok(modified) = fs::metadata(path).and_then(|metadata| metadata.modified()) else {
        return false;
    };
    let since = modified.duration_since(UNIX_EPOCH);
    let modified = since.map_or(0, |since| since.as_nanos() as u64);
    let meanwhile = began..=os_clock::unix_now() + COARSE_CLOCK_NS;
    meanwhile.contains(&(modified + COARSE_CLOCK_NS))
}

/// A name with the process number: `run.json` becomes `run.1234.json`, or `run.1234-2.json` if a library with a runtime of its own has
/// written that.
fn own_name(path: &Path) -> PathBuf {
    let pid = crate::process::id();
    let first = with_suffix(path, pid.to_string());
    if !is_another_process_s(&first) {
        return first;
    }
    let mut others = (2..RUNTIMES).map(|nth| with_suffix(path, format!("{pid}-{nth}")));
    let free = others.find(|other| !is_another_process_s(other));
    free.unwrap_or(first)
}

/// A process does not have so many runtimes.
const RUNTIMES: u32 = 1000;

fn with_suffix(path: &Path, suffix: String) -> PathBuf {
    let mut extension = OsString::from(suffix);
    if let Some(known) = path.extension() {
        extension.push(".");
        extension.push(known);
    }
    path.with_extension(extension)
}

/// Keeps other processes from renaming a file to this name between this process's check and its own renaming. If the lock is not available
/// for a while, the file is written without it.
#[cfg(unix)]
fn lock(folder: &Path) -> Option<File> {
    use std::os::fd::AsRawFd;
    let folder = File::open(folder).ok()?;
    patience::retry(|| {
        // SAFETY: the call locks an open file. Closing the file releases the lock.
        let failed = unsafe { libc::flock(folder.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0;
        (!failed).then_some(())
    })?;
    Some(folder)
}

#[cfg(not(unix))]
fn lock(_: &Path) -> Option<File> {
    None
}

/// Writes to a pipe or a terminal. If a pipe has no reader, nothing is written.
#[cfg(all(unix, not(miri)))]
fn write_to_stream(path: &Path, text: &str) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;
    let stream = OpenOptions::new()
        .append(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)
        .map_err(|error| match error.raw_os_error() {
            Some(libc::ENXIO) => io::Error::other("nobody reads from this pipe"),
            _ => error,
        })?;
    crate::environment::write_to_stream(stream.as_raw_fd(), text.as_bytes()).map_err(|(_, why)| {
        match why.kind() {
            io::ErrorKind::TimedOut => io::Error::other("its reader has stopped reading"),
            _ => why,
        }
    })
}

#[cfg(not(all(unix, not(miri))))]
fn write_to_stream(path: &Path, text: &str) -> io::Result<()> {
    let mut stream = OpenOptions::new().append(true).open(path)?;
    stream.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty folder, which the test removes.
    #[cfg(all(unix, not(miri)))]
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("tsc-{name}-{}", crate::process::id()));
        // A process with the same number may have left one.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[cfg(all(unix, not(miri)))]
    #[test]
    fn long_files_are_not_written_again() {
        let folder = folder("long");
        let path = folder.join("run.json");
        let write = |text: &str| {
            assert_eq!(write_own(&path, text).unwrap(), None);
            FileIdentity::at(&path)
        };
        let text = "x".repeat(LONG);
        let first = write(&text);
        keep();
        assert_eq!(write("second"), first);
        // It has not been kept, so it is replaced.
        assert_ne!(write("third"), first);
        keep();
        write("fourth");
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            format!("{text}thirdfourth")
        );
        keep();
        // What somebody else has changed is written again.
        fs::write(&path, "").unwrap();
        write("fifth");
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            format!("{text}thirdfourthfifth")
        );
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(all(unix, not(miri)))]
    #[test]
    fn unfinished_files_of_others_are_passed_over() {
        let pid = crate::process::id();
        let folder = folder("unfinished");
        for number in 0..LEFT_BEHIND / 2 {
            fs::write(folder.join(format!(".run.json.{pid}-{number}.tmp")), "").unwrap();
        }
        write(&folder.join("run.json"), "whole").unwrap();
        let written = fs::read_to_string(folder.join("run.json"));
        assert_eq!(written.unwrap(), "whole");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn own_names_keep_the_extension() {
        let pid = crate::process::id();
        let own = |path| own_name(Path::new(path)).display().to_string();
        let json = Path::new("a").join(format!("run.{pid}.json"));
        assert_eq!(own("a/run.json"), json.display().to_string());
        assert_eq!(own("run"), format!("run.{pid}"));
    }

    #[cfg(all(unix, not(miri)))]
    #[test]
    fn runtimes_of_one_process_have_files_of_their_own() {
        let pid = crate::process::id();
        let folder = folder("runtimes");
        let names = ["", "-2", "-3"].map(|nth| folder.join(format!("run.{pid}{nth}.json")));
        for name in &names {
            assert_eq!(own_name(&folder.join("run.json")), *name);
            fs::write(name, "").unwrap();
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
