//! The child of a fork, on Unix.

use std::sync::atomic::Ordering::Relaxed;

use super::{BEGUN, REGISTRY, UNRECORDED, light};
use crate::record::{callsite, thread};

/// Called in the child of a fork, where all figures are the parent's.
pub(crate) fn start_from_zero() {
    REGISTRY.forget();
    BEGUN.forget();
    UNRECORDED.store(0, Relaxed);
    callsite::finish_registering();
    let thread = thread::this();
    thread.invalidate();
    // The file descriptor belongs to the parent's thread.
    thread.on_cpu.detach();
    light::start_from_zero();
}
