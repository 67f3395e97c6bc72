//! Resetting and pausing. Both send the threads' next probes through the cold path.

use std::time::Duration;

use super::reading::forget;
use super::{PAUSED, REGISTRY, busy_with};
use crate::record::thread;
use crate::sync::atomic::Ordering::{AcqRel, Relaxed, SeqCst};
use crate::sync::atomic::{AtomicU8, fence};

/// Requests that were made in the cold path, and are carried out when it is left: a set of [`RESET`] and [`INVALIDATE`].
static PUT_OFF: AtomicU8 = AtomicU8::new(0);
const RESET: u8 = 1;
const INVALIDATE: u8 = 2;

/// A thread that holds the lists for longer than this may be waiting for the allocator, and a signal handler that has interrupted the
/// allocator may be the caller.
const PATIENCE: Duration = Duration::from_millis(50);

/// Forgets all that was recorded; see [`reset`](crate::reset).
pub(crate) fn reset() {
    // This reset also does the ones that were put off.
    PUT_OFF.fetch_and(!RESET, Relaxed);
    // Not while a report is being made: a report allocates, and so does this.
    if thread::this().is_reporting() || !forget() {
        PUT_OFF.fetch_or(RESET, Relaxed);
    }
}

/// Stops recording on all threads: calls that start from now on are not recorded until [`resume`]. Calls that are already running are.
///
/// In a signal handler that has interrupted the runtime's own work, the pause takes effect soon after that work, at the latest with the
/// next report.
///
/// ```
/// use tsc_runtime::cycles;
///
/// #[cycles(name = "double")]
/// fn double(x: u32) -> u32 {
///     2 * x
/// }
///
/// double(1);
/// tsc_runtime::pause();
/// double(2); // not recorded
/// tsc_runtime::resume();
/// double(3);
/// if let Some(row) = tsc_runtime::snapshot().callsite("double") {
///     assert_eq!(row.calls(), 2);
/// }
/// ```
pub fn pause() {
    set_paused(true);
}

/// Ends a [`pause`]: calls that start from now on are recorded again.
pub fn resume() {
    set_paused(false);
}

fn set_paused(paused: bool) {
    PAUSED.store(paused, Relaxed);
    invalidate();
}

fn invalidate() {
    // A thread that registers later sees the pause, as in `is_paused_by_now`.
    fence(SeqCst);
    let Some(registry) = REGISTRY.get_if_made() else {
        return;
    };
    let invalidated = busy_with(|_| {
        let lists = registry.lists.try_lock_for(PATIENCE);
        lists.map(|lists| lists.invalidate_threads())
    });
    if invalidated.flatten().is_none() {
        PUT_OFF.fetch_or(INVALIDATE, Relaxed);
    }
}

/// Called after a first call on a thread, and before a report. Requests that are put off meanwhile wait for the next time: otherwise a
/// signal handler that comes faster than a reset takes would stop the program.
#[inline]
pub(crate) fn do_what_was_put_off() {
    if PUT_OFF.load(Relaxed) != 0 && !thread::this().is_reporting() {
        let put_off = PUT_OFF.swap(0, AcqRel);
        if put_off & INVALIDATE != 0 {
            invalidate();
        }
        if put_off & RESET != 0 {
            reset();
        }
    }
}
