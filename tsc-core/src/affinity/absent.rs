//! Systems that have no call for affinity, or whose call is not used here: every request fails. In builds in which nothing is measured, every
//! one succeeds and does nothing.

use std::{io, thread};

pub(super) const UNSUPPORTED: Option<&str> = if !cfg!(measuring) {
    None
} else if cfg!(target_vendor = "apple") {
    Some("macOS and iOS have no call that pins a thread to a CPU")
} else {
    Some("placing threads is implemented for Linux, Android and Windows only")
};

#[derive(Debug)]
pub(super) struct Mask;
pub(super) type Class = ();

pub(super) const HIGHEST_NICE: i32 = 0;
pub(super) const RIGHT: &str = "a right";
pub(super) const REAL_TIME: Class = ();

pub(super) fn mask() -> io::Result<Mask> {
    Ok(Mask)
}

pub(super) fn cpus_in(_: &Mask) -> Vec<usize> {
    (0..thread::available_parallelism().map_or(1, usize::from)).collect()
}

pub(super) fn only(_cpu: usize) -> Option<Mask> {
    Some(Mask)
}

pub(super) fn set_mask(_: &Mask) -> io::Result<()> {
    Ok(())
}

pub(super) fn online() -> Vec<usize> {
    Vec::new()
}

pub(super) fn nice() -> io::Result<i32> {
    Ok(0)
}

pub(super) fn set_nice(_nice: i32) -> io::Result<()> {
    Ok(())
}

pub(super) fn class() -> io::Result<Class> {
    Ok(())
}

pub(super) fn set_class((): &Class) -> io::Result<()> {
    Ok(())
}
