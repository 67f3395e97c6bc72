//! Writes the files that this program makes or changes, and what goes to its standard output.

use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Serialize;

use crate::interrupt;

/// Makes `contents` the contents of the file. They are written to a new file, which then takes the other's name, so that a reader never
/// finds a part of them, and an error leaves the file as it was. Symbolic links are followed. A terminal, a pipe or another device is
/// written to, and what is open already, as /dev/stdout is, keeps what it contains.
///
/// # Errors
/// If the file cannot be written, if it is a directory, or if it is a link that leads nowhere.
pub fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<()> {
    write_to(path, contents.as_ref()).with_context(|| format!("cannot write {}", path.display()))
}

/// Writes a file, also if a signal comes meanwhile: otherwise the new file would remain beside the old one. The caller checks for the signal
/// afterwards.
///
/// # Errors
/// Those of [`write`].
pub fn write_whole(path: &Path, contents: impl AsRef<[u8]>) -> Result<()> {
    // A pipe or a device may keep this program waiting, and is written to in place.
    if fs::metadata(path).map_or(true, |there| there.is_file()) {
        interrupt::outlive()?;
    }
    write(path, contents)
}

/// Writes to this file, or to standard output if there is none.
///
/// # Errors
/// If it cannot be written, or a signal has come meanwhile.
pub fn write_or_print(path: Option<&Path>, contents: impl AsRef<[u8]>) -> Result<()> {
    match path {
        Some(path) => {
            write_whole(path, contents)?;
            Ok(interrupt::check()?)
        }
        None => Ok(stdout().write_all(contents.as_ref())?),
    }
}

/// Standard output, for bytes that stay as they are. Its errors name it, because the user may not know that they are not of another file.
pub fn stdout() -> impl Write {
    Printed(io::stdout().lock())
}

/// Standard output, for text that may have colours.
pub fn styled_stdout() -> impl Write {
    Printed(anstream::stdout().lock())
}

/// Prints data for programs, in one line.
///
/// # Errors
/// If it cannot be written.
pub fn print_json(data: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string(data)?;
    Ok(writeln!(stdout(), "{text}")?)
}

struct Printed<W>(W);

impl<W: Write> Write for Printed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(of_stdout)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(of_stdout)
    }
}

fn of_stdout(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("standard output: {error}"))
}

/// Whether the reader of the output stopped early, as `head` does. That is not an error.
#[must_use]
pub fn is_closed(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// The result of printing, where the exit status is a verdict or the program's own: it stays the same if nobody reads the output.
///
/// # Errors
/// If the output cannot be written for another reason.
pub fn unless_closed(printed: Result<()>) -> Result<()> {
    printed.or_else(|error| match is_closed(&error) {
        true => Ok(()),
        false => Err(error),
    })
}

fn write_to(path: &Path, contents: &[u8]) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(io::Error::other("it is a directory")),
        Ok(there) if there.is_file() && !is_open_already(path) => {
            let path = fs::canonicalize(path)?;
            // A new file could take the place of one that the user may not change.
            OpenOptions::new().append(true).open(&path)?;
            replace(&path, contents, Some(&there))
        }
        Ok(_) => OpenOptions::new()
            .append(true)
            .open(path)?
            .write_all(contents),
        Err(error) if error.kind() == ErrorKind::NotFound && path.is_symlink() => Err(
            io::Error::other("it is a symbolic link to a path that does not exist"),
        ),
        Err(error) if error.kind() == ErrorKind::NotFound => replace(path, contents, None),
        Err(error) => Err(error),
    }
}

/// Whether the path, or what it leads to, is a name of a file that is open already, such as `/dev/stdout` or `/proc/self/fd/1`.
fn is_open_already(path: &Path) -> bool {
    fs::canonicalize(folder(path)).is_ok_and(|folder| {
        folder.starts_with("/proc")
            || folder == Path::new("/dev/fd")
            || fs::read_link(path).is_ok_and(|link| is_open_already(&folder.join(link)))
    })
}

fn replace(path: &Path, contents: &[u8], there: Option<&Metadata>) -> io::Result<()> {
    // Otherwise, the error would name a file that the user does not know.
    fs::metadata(folder(path))?;
    let mut beside = tempfile::Builder::new();
    beside.prefix(".cargo-tsc-");
    #[cfg(unix)]
    // What the user's mask leaves of it, as for every new file.
    beside.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut beside = beside.tempfile_in(folder(path))?;
    beside.write_all(contents)?;
    if let Some(there) = there {
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt as _, fchown};
            // Root may write the files of others, as in a container, and they stay theirs.
            let _ = fchown(beside.as_file(), Some(there.uid()), Some(there.gid()));
        }
        beside.as_file().set_permissions(there.permissions())?;
    }
    // On a full disk, some file systems only report an error here.
    beside.as_file().sync_data()?;
    beside.persist(path)?;
    Ok(())
}

fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn a_reader_finds_the_old_contents_or_the_new_ones() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        write(&path, "the old contents").unwrap();
        let old = File::open(&path).unwrap();
        write(&path, "new").unwrap();
        assert_eq!(io::read_to_string(old).unwrap(), "the old contents");
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_closed_output_is_no_error_and_a_full_disk_is_one() {
        let printed = |kind: ErrorKind| {
            let printed: io::Result<()> = Err(kind.into());
            unless_closed(printed.context("standard output"))
        };
        assert!(printed(ErrorKind::BrokenPipe).is_ok());
        assert!(printed(ErrorKind::StorageFull).is_err());
    }

    #[test]
    fn only_the_users_own_path_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("nothing").join("file");
        let error = format!("{:#}", write(&path, "x").unwrap_err());
        assert!(!error.contains(".cargo-tsc-"), "{error}");
    }

    #[test]
    fn directories_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let error = write(dir.path(), "x").unwrap_err();
        assert!(
            format!("{error:#}").ends_with("it is a directory"),
            "{error:#}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let dir = tempfile::tempdir().unwrap();
        let (file, link, lost) = (
            dir.path().join("a"),
            dir.path().join("b"),
            dir.path().join("c"),
        );
        let mode = || fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        File::create(&file).unwrap();
        let usual = mode();
        fs::remove_file(&file).unwrap();
        write(&file, "").unwrap();
        assert_eq!(mode(), usual);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o741)).unwrap();
        symlink("a", &link).unwrap();
        write(&link, "new").unwrap();
        assert!(link.is_symlink() && mode() == 0o741);
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        symlink("nothing", &lost).unwrap();
        assert!(write(&lost, "new").is_err() && lost.is_symlink());
    }

    #[cfg(unix)]
    #[test]
    fn the_owner_stays() {
        use std::os::unix::fs::{MetadataExt as _, chown};

        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        write(&file, "old").unwrap();
        // Only root may give a file away.
        if chown(&file, Some(1234), Some(5678)).is_err() {
            return;
        }
        write(&file, "new").unwrap();
        let there = fs::metadata(&file).unwrap();
        assert_eq!((there.uid(), there.gid()), (1234, 5678));
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_an_open_file_contains_stays() {
        use std::os::fd::AsRawFd as _;

        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&path, "the user's\n").unwrap();
        let open = File::options().append(true).open(&path).unwrap();
        write(Path::new(&format!("/dev/fd/{}", open.as_raw_fd())), "one\n").unwrap();
        let own = format!("/proc/self/fd/{}", open.as_raw_fd());
        std::os::unix::fs::symlink(own, &link).unwrap();
        write(&link, "two\n").unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "the user's\none\ntwo\n");
    }

    #[cfg(unix)]
    const FOLDER: &str = "CARGO_TSC_TEST_FOLDER";

    #[cfg(unix)]
    #[test]
    #[ignore = "the test below starts it in a process of its own, which it interrupts"]
    fn written_while_a_signal_comes() {
        let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
        write_whole(&folder.join("file"), vec![b'x'; 1 << 26]).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_signal_leaves_no_part_of_a_file() {
        use nix::sys::signal::{Signal, kill};
        use nix::unistd::Pid;

        let dir = tempfile::tempdir().unwrap();
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        let test = "output::tests::written_while_a_signal_comes";
        command.args(["--ignored", "--exact", test]);
        let mut child = command.env(FOLDER, dir.path()).spawn().unwrap();
        let files = || fs::read_dir(dir.path()).unwrap().count();
        while files() == 0 && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let pid = Pid::from_raw(child.id().cast_signed());
        kill(pid, Signal::SIGTERM).unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!((files(), dir.path().join("file").exists()), (1, true));
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_written_to() {
        use std::os::unix::fs::FileTypeExt as _;

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let reader = std::thread::spawn({
            let path = path.clone();
            move || fs::read_to_string(path).unwrap()
        });
        write(&path, "through the pipe").unwrap();
        assert_eq!(reader.join().unwrap(), "through the pipe");
        assert!(fs::metadata(&path).unwrap().file_type().is_fifo());
    }
}
