//! The identity of a file.

use std::path::Path;

#[cfg(all(unix, not(miri)))]
use super::written;

/// What distinguishes a file from all others. Only some kinds of files without a name share an inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

impl FileIdentity {
    /// Of all open files where a sandbox does not let the process ask.
    #[cfg(all(unix, not(miri)))]
    const UNKNOWN: Self = Self {
        device: 0,
        inode: 0,
    };

    /// Of an open file. `None` if the descriptor is closed. This may be called in a signal handler.
    #[cfg(all(unix, not(miri)))]
    #[allow(clippy::unnecessary_cast)] // both numbers have other types on some systems
    pub(crate) fn of(descriptor: libc::c_int) -> Option<Self> {
        // SAFETY: it writes one stat to the given address, if it returns 0.
        let status: Option<libc::stat> =
            unsafe { written(|status| libc::fstat(descriptor, status)) };
        let is_closed = || std::io::Error::last_os_error().raw_os_error() == Some(libc::EBADF);
        match status {
            None if is_closed() => None,
            None => Some(Self::UNKNOWN),
            Some(status) => Some(Self {
                device: status.st_dev as u64,
                inode: status.st_ino as u64,
            }),
        }
    }

    /// Whether both may be of the same file, as far as the process could ask.
    #[cfg(all(unix, not(miri)))]
    pub(crate) fn may_be(self, other: Self) -> bool {
        self == other || self == Self::UNKNOWN || other == Self::UNKNOWN
    }

    /// Of the file at a path.
    #[cfg(unix)]
    pub(crate) fn at(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let metadata = path.metadata().ok()?;
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        })
    }

    /// Here, the time at which the file was changed stands for its identity.
    #[cfg(not(unix))]
    pub(crate) fn at(path: &Path) -> Option<Self> {
        let changed = path.metadata().and_then(|metadata| metadata.modified());
        let since = changed.ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(Self {
            device: since.as_secs(),
            inode: u64::from(since.subsec_nanos()),
        })
    }
}
