//! The time that a call has lost off the CPU, found at its stop: see [`on_cpu`](crate::on_cpu).

use crate::on_cpu::{Answer, Loss};
use crate::record::thread::Thread;

/// The rest of the work, for when the call is recorded: the kernel's answer, and the part of the loss that lies after the call.
#[must_use]
pub(super) struct AfterCall(Option<(Answer, Loss)>);

/// Called at a stop `raw` ticks after the start, with the running overhead of that start in `overhead_then`. Asks the kernel what was lost
/// if the detector was cleared. In the cold path it does not ask, because the end of the cold path asks for everything that was lost in it.
pub(super) fn find_loss(thread: &Thread, overhead_then: u64, raw: i64) -> AfterCall {
    if thread.is_busy() || !thread.detector.arm() {
        return AfterCall(None);
    }
    let Some(answer) = thread.on_cpu.ask() else {
        return AfterCall(None);
    };
    // The thread may have been interrupted after the counter was read. A call cannot lose more than it took.
    let room = raw.wrapping_sub(thread.overhead_since(overhead_then));
    let (inside, after) = answer.loss.split_at(room);
    thread.add_loss(answer.at, inside);
    AfterCall(Some((answer, after)))
}

impl AfterCall {
    /// Called when the call is recorded: the rest of the loss, and the time for finding it, belong to the caller.
    pub(super) fn add_to(self, thread: &Thread) {
        let Some((answer, after)) = self.0 else {
            return;
        };
        if after.off != 0 {
            thread.add_loss(answer.at, after);
        }
        thread.add_cost_of_asking(&answer);
    }
}

#[cfg(test)]
pub(super) mod tests;
