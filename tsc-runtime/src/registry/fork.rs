//! What the child of a fork does; only Unix forks.

use std::sync::atomic::Ordering::Relaxed;

use super::{BEGUN, REGISTRY, UNRECORDED};
use crate::record::thread;

/// In the child of a fork: the figures are the parent's.
pub(crate) fn start_from_zero() {
    REGISTRY.forget();
    BEGUN.forget();
    UNRECORDED.store(0, Relaxed);
    let thread = thread::this();
    thread.invalidate();
    // The descriptor is of the parent's thread.
    thread.on_cpu.detach();
}
