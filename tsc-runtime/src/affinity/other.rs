//! Systems that have no call for affinity, or whose call is not used here.

use std::io;

use super::AffinityError;

/// Never created.
#[derive(Debug)]
pub(super) enum Mask {}

const UNSUPPORTED: AffinityError = AffinityError::Unsupported {
    why: if cfg!(target_vendor = "apple") {
        "macOS and iOS have no call that pins a thread to a CPU"
    } else {
        "placing threads is implemented for Linux, Android and Windows only"
    },
};

pub(super) fn cpus() -> Result<Vec<usize>, AffinityError> {
    Err(UNSUPPORTED)
}

pub(super) fn pin(_cpu: usize) -> Result<Mask, AffinityError> {
    Err(UNSUPPORTED)
}

pub(super) fn restore(mask: &Mask) -> io::Result<()> {
    match *mask {}
}

pub(super) fn raise_priority() -> Result<(i32, i32), AffinityError> {
    Err(UNSUPPORTED)
}

pub(super) fn set_nice(_nice: i32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
