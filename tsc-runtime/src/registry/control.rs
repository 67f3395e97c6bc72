//! Forgetting, pausing, forking: each sends the threads' next probes through the cold path.

use std::sync::atomic::Ordering::Relaxed;

use super::shard::THREAD_END;
use super::{GENERATION, PAUSED, REGISTRY, UNRECORDED, registry};
use crate::totals::Totals;
use crate::{overhead, thread};

/// Forgets all that was recorded; see [`reset`](crate::reset).
pub(crate) fn reset() {
    let thread = thread::this();
    let busy = thread.enter_cold_path();
    let mut registry = registry().lock();
    GENERATION.fetch_add(1, Relaxed);
    UNRECORDED.store(0, Relaxed);
    registry
        .ended
        .iter_mut()
        .for_each(|totals| *totals = Totals::default());
    registry.invalidate_threads();
    drop(registry);
    // This thread's calls in flight count from here on; the others' threads catch up at their next call.
    let _ = THREAD_END.try_with(|end| end.0.borrow().iter().for_each(|shard| shard.catch_up()));
    drop(busy);
}

/// Stops recording, on all threads: calls that start from now on are not recorded, until [`resume`]. Calls in flight are.
pub fn pause() {
    set_paused(true);
}

/// Records again, after [`pause`].
pub fn resume() {
    set_paused(false);
}

fn set_paused(paused: bool) {
    PAUSED.store(paused, Relaxed);
    let thread = thread::this();
    let busy = thread.enter_cold_path();
    registry().lock().invalidate_threads();
    drop(busy);
}

/// In the child of a fork: the lock may be taken by a thread that is not here any more, and the figures are the parent's.
#[cfg(unix)] // elsewhere no process is forked
pub(crate) fn start_from_zero() {
    if let Some(registry) = REGISTRY.get() {
        let thread = thread::this();
        let busy = thread.enter_cold_path();
        registry.store(Box::into_raw(Box::default()), Relaxed);
        overhead::start_from_zero();
        UNRECORDED.store(0, Relaxed);
        thread.invalidate();
        drop(busy);
    }
}
