//! Keeps two processes from using the same folder at the same time.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::interrupt;
use crate::progress::remark;

/// How often to look whether a lock is free.
const EVERY: Duration = Duration::from_millis(100);

/// A lock that this process holds. The operating system releases it when this is dropped, and also if the process is killed.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "dropping it releases the lock")] Locked);

impl Lock {
    /// Waits until no other process holds the lock of this file. The file says who holds it, and while this waits, a line says so, too.
    ///
    /// # Errors
    /// If the file cannot be created or locked.
    pub fn take(path: &Path) -> Result<Self> {
        let context = || format!("cannot lock {}", path.display());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(context)?;
        }
        let mut is_said = false;
        loop {
            if let Some(lock) = Self::try_take(path).with_context(context)? {
                return Ok(lock);
            }
            if !is_said {
                remark(&format!(
                    "waiting for {}, which uses {}",
                    holder(path),
                    path.display()
                ));
                is_said = true;
            }
            interrupt::check()?;
            std::thread::sleep(EVERY);
        }
    }

    /// The lock, if no other process holds it.
    fn try_take(path: &Path) -> io::Result<Option<Self>> {
        let Some(mut locked) = lock(path)? else {
            return Ok(None);
        };
        let file: &mut File = &mut locked;
        file.set_len(0)?;
        file.rewind()?;
        let words: Vec<_> = std::env::args_os().skip(1).collect();
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        write!(file, "process {}: {}", std::process::id(), words.join(" "))?;
        Ok(Some(Self(locked)))
    }
}

/// Who holds the lock, as its file says.
fn holder(path: &Path) -> String {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(200).read_to_string(&mut text));
    if read.is_err() || text.is_empty() {
        return "another process".to_owned();
    }
    text
}

#[cfg(unix)]
type Locked = nix::fcntl::Flock<File>;

#[cfg(unix)]
fn lock(path: &Path) -> io::Result<Option<Locked>> {
    use nix::errno::Errno;
    use nix::fcntl::{Flock, FlockArg};

    let mut options = File::options();
    let file = options.read(true).write(true).create(true).truncate(false);
    match Flock::lock(file.open(path)?, FlockArg::LockExclusiveNonblock) {
        Ok(locked) => Ok(Some(locked)),
        Err((_, Errno::EWOULDBLOCK)) => Ok(None),
        Err((_, error)) => Err(error.into()),
    }
}

#[cfg(not(unix))]
type Locked = Box<File>;

#[cfg(not(unix))]
fn lock(path: &Path) -> io::Result<Option<Locked>> {
    use std::os::windows::fs::OpenOptionsExt as _;

    /// Another process has opened the file and does not share it.
    const ERROR_SHARING_VIOLATION: i32 = 32;
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    match options.share_mode(0).open(path) {
        Ok(file) => Ok(Some(Box::new(file))),
        Err(error) if error.raw_os_error() == Some(ERROR_SHARING_VIOLATION) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holds_it_and_the_file_says_who() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("locks/one");
        let lock = Lock::take(&path).unwrap();
        assert!(Lock::try_take(&path).unwrap().is_none());
        if cfg!(unix) {
            let process = format!("process {}: ", std::process::id());
            assert!(holder(&path).starts_with(&process), "{}", holder(&path));
        }
        drop(lock);
        assert!(Lock::try_take(&path).unwrap().is_some());
    }
}
