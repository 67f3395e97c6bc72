//! Forgetting and pausing: each sends the threads' next probes through the cold path.

use std::sync::atomic::{
    AtomicU8,
    Ordering::{AcqRel, Relaxed},
};
use std::time::Duration;

use super::generation::forget;
use super::{PAUSED, ask_for_tree, busy_with, registry};
use crate::record::thread;

/// What was asked for from within the cold path, and is done when that is left: a set of [`RESET`] and [`INVALIDATE`].
static PUT_OFF: AtomicU8 = AtomicU8::new(0);
const RESET: u8 = 1;
const INVALIDATE: u8 = 2;

/// Who holds the lists for longer may wait for what a signal handler has interrupted that comes here: the allocator.
const PATIENCE: Duration = Duration::from_millis(50);

/// Forgets all that was recorded; see [`reset`](crate::reset).
pub(crate) fn reset() {
    // This one does for those that were put off.
    PUT_OFF.fetch_and(!RESET, Relaxed);
    // A report that is being made allocates, and so does this.
    if thread::this().is_reporting() || !forget() {
        PUT_OFF.fetch_or(RESET, Relaxed);
    }
}

/// Records the call tree from now on, or does not, whatever `TSC_TREE` says: with it, [`Report::contexts`](crate::Report::contexts) has the
/// calls and ticks of each function for every chain of annotated functions through which it was called.
///
/// Decided once for the whole process, at the latest by its first annotated call. Returns whether it is as asked for: false means that
/// the opposite was decided before. With the tree, a call costs some ticks more, which are calibrated and subtracted like the
/// others, and each thread takes up to 2 MiB.
///
/// ```
/// tsc_runtime::tree(true);
/// ```
pub fn tree(recorded: bool) -> bool {
    ask_for_tree(recorded)
}

/// Stops recording, on all threads: calls that start from now on are not recorded, until [`resume`]. Calls in flight are.
///
/// In a signal handler that has interrupted the runtime's own work it takes effect soon after that, and with the next report at the latest.
pub fn pause() {
    set_paused(true);
}

/// Records again, after [`pause`].
pub fn resume() {
    set_paused(false);
}

fn set_paused(paused: bool) {
    PAUSED.store(paused, Relaxed);
    invalidate();
}

fn invalidate() {
    let invalidated = busy_with(|_| {
        let lists = registry().lists.try_lock_for(PATIENCE)?;
        lists.invalidate_threads();
        Some(())
    });
    if invalidated.flatten().is_none() {
        PUT_OFF.fetch_or(INVALIDATE, Relaxed);
    }
}

/// After a first call on a thread, and before a report. What is put off again meanwhile waits for the next one, or a handler that comes
/// faster than a reset takes would never let the program go on.
#[inline]
pub(crate) fn do_what_was_put_off() {
    if PUT_OFF.load(Relaxed) != 0 && !thread::this().is_reporting() {
        let put_off = PUT_OFF.swap(0, AcqRel);
        if put_off & RESET != 0 {
            reset();
        } else if put_off & INVALIDATE != 0 {
            invalidate();
        }
    }
}
