//! Attaches the thread to the interruption detector for the instruments.

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

/// Makes sure that interruptions of this thread are detected until it ends.
pub(crate) fn attach_thread() {
    // While the thread is being destroyed it can no longer be attached; verdicts are then unknown.
    let _ = ATTACHED.try_with(|_| ());
}

/// Arms the detector. The returned ticks are the argument of [`interruption_since`].
#[inline]
pub(super) fn arm() -> Ticks {
    thread::this().detector.arm();
    Unfenced::start()
}

/// Whether this thread was interrupted since the [`arm`] that returned `armed`.
#[inline]
pub(super) fn interruption_since(armed: Ticks) -> Interruption {
    thread::this().detector.verdict(armed)
}

/// The result of `work`. `None` if this thread was interrupted meanwhile.
#[inline]
pub(crate) fn uninterrupted<T>(work: impl FnOnce() -> T) -> Option<T> {
    let armed = arm();
    let result = work();
    (interruption_since(armed) != Interruption::Interrupted).then_some(result)
}
