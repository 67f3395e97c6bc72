//! This thread's part of the interruption detector.

use crate::interruption::Interruption;
use crate::record::thread;
use crate::tsc::{FencePolicy, Ticks, Unfenced};

struct Attached;

impl Drop for Attached {
    fn drop(&mut self) {
        thread::this().detector.detach();
    }
}

thread_local! {
    static ATTACHED: Attached = {
        thread::this().detector.attach();
        Attached
    };
}

/// Makes sure that interruptions of this thread are detected, until it ends.
pub(crate) fn attach_thread() {
    // During the thread's destruction there is nothing to attach to any more, and verdicts are unknown.
    let _ = ATTACHED.try_with(|_| ());
}

/// The beginning of what [`interruption_since`] is asked about.
#[inline]
pub(crate) fn arm() -> Ticks {
    thread::this().detector.arm();
    Unfenced::start()
}

/// What happened to this thread since the [`arm`] that returned `armed`.
#[inline]
pub(crate) fn interruption_since(armed: Ticks) -> Interruption {
    thread::this().detector.verdict(armed)
}
