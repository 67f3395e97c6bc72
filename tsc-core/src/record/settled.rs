//! What a call has cost on the CPU, and how its stop updates its thread's running sums.

use super::Record;
use super::thread::Thread;

/// A thread's running sums.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums {
    pub(crate) overhead: u64,
    pub(crate) work: u64,
}

impl Sums {
    #[inline(always)]
    pub(crate) fn of(thread: &Thread) -> Self {
        Self {
            overhead: thread.overhead.get(),
            work: thread.work.get(),
        }
    }

    /// Undoes what calls have added since.
    pub(crate) fn restore(self, thread: &Thread) {
        thread.overhead.set(self.overhead);
        thread.work.set(self.work);
    }
}

/// The ticks of a call on the CPU, as its stop adds them to its thread's running sums.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Settled {
    /// With the call's own visible overhead.
    pub(crate) gross: u64,
    /// The overhead of nested probes.
    pub(crate) nested: u64,
    /// The gross ticks without the call's own visible overhead.
    pub(crate) net: u64,
}

impl Record {
    /// Records a call of `raw` ticks that contains other probes. The thread's running sums were `before` at its start.
    #[inline(always)]
    pub(crate) fn leave_nesting(&self, thread: &Thread, before: Sums, raw: u64) {
        let added = thread.overhead.get().wrapping_sub(before.overhead);
        if raw.wrapping_sub(added).cast_signed() < 0 {
            return self.leave_below_zero(thread, before, raw);
        }
        let settled = self.settle(thread, before, raw, 0);
        self.leave(settled.gross, settled.nested);
    }

    /// Records a call that took less than what was added to the overhead since its start.
    #[cold]
    #[inline(never)]
    fn leave_below_zero(&self, thread: &Thread, before: Sums, raw: u64) {
        let settled = self.settle_with_handlers(thread, before, raw, 0);
        self.leave(settled.gross, settled.nested);
    }

    /// Updates the thread's running sums, which were `before` at the start. `off` ticks of the added overhead were time off the CPU.
    #[inline(always)]
    fn settle(&self, thread: &Thread, before: Sums, raw: u64, off: i64) -> Settled {
        let mut overhead = thread.overhead.get();
        let added = overhead.wrapping_sub(before.overhead);
        let nested = added.wrapping_sub(off.cast_unsigned());
        overhead = overhead.wrapping_add(self.cost.get());
        if added != 0 {
            if nested != 0 {
                overhead = overhead.wrapping_add(self.nesting.get());
            }
            self.add_nested(nested, thread.work.get().wrapping_sub(before.work));
        }
        thread.overhead.set(overhead);
        let gross = raw.wrapping_sub(added);
        let net = gross.wrapping_sub(self.visible.get());
        thread.work.set(before.work.wrapping_add(net));
        Settled { gross, nested, net }
    }

    /// Like [`settle`](Self::settle), also for a call since whose start more overhead was added than it took. A little more is the calibration's
    /// error. If it is much more, a signal handler has called annotated functions between the reads of the sums and of the counter: outside of
    /// the call.
    pub(crate) fn settle_with_handlers(
        &self,
        thread: &Thread,
        before: Sums,
        raw: u64,
        off: i64,
    ) -> Settled {
        const ERROR: u64 = 2_000;
        let added = thread.overhead_since(before.overhead);
        let added = added.max(0).cast_unsigned();
        let is_outside = added > raw.saturating_mul(2).saturating_add(ERROR);
        let before = if is_outside { Sums::of(thread) } else { before };
        self.settle(thread, before, raw, off)
    }
}
