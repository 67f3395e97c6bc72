//! What the child of a fork does; only Unix forks.

use std::sync::atomic::Ordering::Relaxed;

use super::{REGISTRY, UNRECORDED};
use crate::calibration::overhead;
use crate::record::thread;
use crate::report;

/// In the child of a fork: the lock may be taken by a thread that is not here any more, and the figures are the parent's.
pub(crate) fn start_from_zero() {
    if let Some(registry) = REGISTRY.get() {
        let thread = thread::this();
        let busy = thread.enter_cold_path();
        registry.store(Box::into_raw(Box::default()), Relaxed);
        overhead::start_from_zero();
        report::start_from_zero();
        UNRECORDED.store(0, Relaxed);
        thread.invalidate();
        // The descriptor is of the parent's thread.
        thread.on_cpu.detach();
        drop(busy);
    }
}
