//! Systems that have no call for affinity, or whose call is not used here: every request fails. In builds in which nothing is measured, every
//! one succeeds and does nothing.

use std::io;

use super::AffinityError;

/// Nothing to restore.
pub(super) type Mask = ();
pub(super) type Class = ();

fn unless_measuring<T>(answer: T) -> Result<T, AffinityError> {
    if !cfg!(measuring) {
        return Ok(answer);
    }
    Err(AffinityError::Unsupported {
        why: if cfg!(target_vendor = "apple") {
            "macOS and iOS have no call that pins a thread to a CPU"
        } else {
            "placing threads is implemented for Linux, Android and Windows only"
        },
    })
}

pub(super) fn cpus() -> Result<Vec<usize>, AffinityError> {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    unless_measuring((0..count).collect())
}

pub(super) fn pin(_cpu: usize) -> Result<Mask, AffinityError> {
    unless_measuring(())
}

pub(super) fn restore((): &Mask) -> io::Result<()> {
    Ok(())
}

pub(super) fn raise_priority() -> Result<(i32, i32), AffinityError> {
    unless_measuring((0, 0))
}

pub(super) fn set_nice(_nice: i32) -> io::Result<()> {
    Ok(())
}

pub(super) fn enter_real_time() -> Result<Class, AffinityError> {
    unless_measuring(())
}

pub(super) fn set_class_back((): &Class) {}
