//! Determines what is at a path, before anything is written there.

use std::error::Error;
use std::fs::{self, FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// How a path is written to.
#[derive(Debug, PartialEq)]
pub(super) enum Destination {
    /// A file, or nothing yet. A new file is written beside it and renamed. Symbolic links are resolved.
    File(PathBuf),
    /// A terminal, a pipe or `/dev/null`, which is opened and written to.
    Stream,
}

impl Destination {
    /// # Errors
    ///
    /// The path leads to something that must not be written to.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        refuse_foreign_links(path)?;
        let is_device = path.starts_with("/dev") && !path.starts_with("/dev/shm");
        if is_device || path.starts_with("/proc") {
            return Ok(Self::Stream);
        }
        match fs::metadata(path) {
            Ok(there) if there.is_dir() => refused("is a directory"),
            Ok(there) if there.is_file() => Ok(Self::File(fs::canonicalize(path)?)),
            Ok(there) if is_stream(there.file_type()) => Ok(Self::Stream),
            Ok(_) => refused("is not a file, a pipe or a terminal"),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Err(_) if fs::symlink_metadata(path).is_ok() => {
                refused("is a symbolic link to a path that does not exist")
            }
            Err(_) => Ok(Self::File(path.to_owned())),
        }
    }
}

fn refused<T>(why: impl Into<Box<dyn Error + Send + Sync>>) -> io::Result<T> {
    Err(io::Error::other(why))
}

#[cfg(unix)]
fn is_stream(kind: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.is_fifo() || kind.is_char_device()
}

#[cfg(not(unix))]
fn is_stream(_: FileType) -> bool {
    false
}

/// In a folder that every user may write to, a symbolic link may be any user's, and may lead anywhere.
///
/// # Errors
///
/// The path contains such a link.
fn refuse_foreign_links(path: &Path) -> io::Result<()> {
    let ways: Vec<&Path> = path.ancestors().collect();
    for way in ways.into_iter().rev() {
        let is_link = fs::symlink_metadata(way).is_ok_and(|metadata| metadata.is_symlink());
        if is_link && fs::metadata(folder(way)).is_ok_and(|folder| everybody_may_write(&folder)) {
            let link = way.display();
            return refused(format!(
                "{link} is a symbolic link in a folder that every user may write to"
            ));
        }
    }
    Ok(())
}

/// The folder that contains the path.
pub(super) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) => Path::new("."),
        None => path,
    }
}

#[cfg(unix)]
fn everybody_may_write(folder: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    folder.mode() & 0o002 != 0
}

#[cfg(not(unix))]
fn everybody_may_write(_: &Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[cfg_attr(miri, ignore = "Miri has no files here")]
    #[test]
    fn shared_memory_is_no_device() {
        let of = |path: &str| Destination::of(Path::new(path)).unwrap();
        assert_eq!(of("/dev/null"), Destination::Stream);
        let file = "/dev/shm/no-such-report.json";
        assert_eq!(of(file), Destination::File(PathBuf::from(file)));
    }
}
