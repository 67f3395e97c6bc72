//! What several instruments use.

use crate::interruption::Interruption;
use crate::record::thread;
use crate::tsc::{FencePolicy, Unfenced};

pub(super) mod distribution;
#[cfg(test)]
pub(super) mod script;

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
pub(super) fn attach_thread() {
    // While the thread is being destroyed it can no longer be attached; verdicts are then unknown.
    let _ = ATTACHED.try_with(|_| ());
}

/// The result of `work`. `None` if this thread was interrupted meanwhile.
#[inline]
pub(super) fn uninterrupted<T>(work: impl FnOnce() -> T) -> Option<T> {
    let thread = thread::this();
    // What was lost until now may belong to an annotated function around this.
    thread.rearm();
    let armed = Unfenced::start();
    let result = work();
    (thread.detector.verdict(armed) != Interruption::Interrupted).then_some(result)
}
