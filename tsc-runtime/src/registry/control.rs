//! Forgetting and pausing: each sends the threads' next probes through the cold path.

use std::sync::atomic::Ordering::Relaxed;

use super::shard::THREAD_END;
use super::{GENERATION, PAUSED, UNRECORDED, registry};
use crate::record::thread;
use crate::record::totals::Totals;

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
