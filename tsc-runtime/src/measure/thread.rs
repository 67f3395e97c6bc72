//! This thread's part of the interruption detector.

use crate::interruption;

struct Attached;

impl Drop for Attached {
    fn drop(&mut self) {
        interruption::detach();
    }
}

thread_local! {
    static ATTACHED: Attached = {
        interruption::attach();
        Attached
    };
}

/// Makes sure that interruptions of this thread are told, until it ends.
pub(crate) fn attach_thread() {
    // During the thread's destruction there is nothing to attach to any more, and verdicts are unknown.
    let _ = ATTACHED.try_with(|_| ());
}
