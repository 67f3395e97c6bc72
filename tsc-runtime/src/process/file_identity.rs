//! The identity of an open file.

use std::mem::MaybeUninit;

/// What distinguishes a file from all others that are open, according to `fstat`. Only some kinds of files without a name share an inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

impl FileIdentity {
    /// `None` if the descriptor is closed. This may be called in a signal handler.
    pub(crate) fn of(descriptor: libc::c_int) -> Option<Self> {
        let mut status = MaybeUninit::<libc::stat>::uninit();
        // SAFETY: it writes one stat to the given address, if it returns 0.
        let status = unsafe {
            if libc::fstat(descriptor, status.as_mut_ptr()) != 0 {
                return None;
            }
            status.assume_init()
        };
        Some(Self {
            device: status.st_dev as u64,
            inode: status.st_ino as u64,
        })
    }
}
