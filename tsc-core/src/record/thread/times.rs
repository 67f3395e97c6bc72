//! The time that a thread loses, and its two running sums: what probes and losses take, and what annotated functions do.

use super::Thread;
use crate::interruption::Seen;
use crate::on_cpu::{self, Answer, Loss};
use crate::record::light::Passed;
use crate::tick_clock::NewTicks;
use crate::tsc::{Ticks, elapsed};

/// How often a start looks for an interruption before it goes on.
const REARMINGS: usize = 3;

impl Thread {
    /// Arms the detector of interruptions for a start that follows. If the detector was cleared, the time lost since the last check belongs
    /// to the running call. In the cold path the kernel is not asked, because the end of the cold path asks for everything that was lost in
    /// it.
    ///
    /// The kernel likes to preempt a thread on its way back from being asked, which would be the call's loss. So the detector is looked at
    /// again then, but not forever.
    pub(crate) fn rearm(&self) {
        for _ in 0..REARMINGS {
            if !self.detector.arm() || self.is_busy() {
                return;
            }
            self.note_loss(false);
        }
        // Where each question takes the CPU from the thread, as under a tracer, the stop would otherwise ask, too, and so each call.
        self.detector.arm();
    }

    /// Called at the end of a cold path from `start` to `end`. What was lost in it is part of its time, but the detector may have been
    /// armed in the meantime without asking the kernel, so the rest of the kernel's answer was lost before.
    pub(crate) fn note_loss_before(&self, start: Ticks, end: Ticks) {
        if (self.detector.arm() || self.detector.rearmed_since(start))
            && let Some(answer) = self.on_cpu.ask(false)
        {
            let (_, before) = answer.loss.split_at(elapsed(start, end));
            self.add_loss_and_cost(start, before, &answer);
        }
    }

    /// Asks the kernel what was lost since the last request. Returns when it answered, if it did.
    fn note_loss(&self, with_statistics: bool) -> Option<Ticks> {
        let answer = self.on_cpu.ask(with_statistics)?;
        self.add_loss_and_cost(answer.at, answer.loss, &answer);
        Some(answer.at)
    }

    fn add_loss_and_cost(&self, at: Ticks, loss: Loss, answer: &Answer) {
        // On a thread without timed probes, nobody needs it.
        if self.has_table() {
            self.add_loss(at, loss);
            self.add_cost_of_asking(answer);
        }
    }

    /// Adds a loss that was found at `at`, which belongs to the innermost running call.
    pub(crate) fn add_loss(&self, at: Ticks, loss: Loss) {
        self.on_cpu.add(at, loss);
        self.add_overhead(loss.off);
    }

    /// Adds what asking the kernel has cost until now, and returns it.
    pub(crate) fn add_cost_of_asking(&self, answer: &Answer) -> i64 {
        let is_clean = self.detector.is_armed_by_any();
        let cost = self.on_cpu.cost_since(answer.began, is_clean);
        self.add_overhead(cost);
        cost
    }

    /// The running overhead since it was `overhead_then`.
    pub(crate) fn overhead_since(&self, overhead_then: u64) -> i64 {
        let overhead = self.overhead.get();
        overhead.wrapping_sub(overhead_then).cast_signed()
    }

    /// What has passed since the last check of the light probes. If its word says that the thread was off the CPU, or may have been, the kernel is asked.
    /// `None` if it does not answer. After a tick it is asked, too: since Linux 6.19, it does not clear the word of a thread that blocks in a
    /// system call.
    pub(crate) fn passed(&self, seen: Seen, ticks: Option<NewTicks>) -> Option<Passed> {
        let was_off = seen != Seen::Armed;
        let asks = was_off || ticks.is_some();
        let answered = asks.then(|| self.note_loss(ticks.is_some())).flatten();
        let now = match answered {
            None if was_off => return None,
            answered => answered.unwrap_or_else(on_cpu::now),
        };
        let loss = self.on_cpu.look();
        Some(Passed {
            now,
            loss,
            ticks,
            is_tick_after: seen == Seen::ClearedBeforeTick,
        })
    }

    /// Adds to the running overhead.
    pub(crate) fn add_overhead(&self, ticks: i64) {
        self.overhead.update(|sum| sum.wrapping_add_signed(ticks));
    }

    /// Adds ticks on the CPU of callees.
    pub(crate) fn add_work(&self, ticks: i64) {
        self.work.update(|sum| sum.wrapping_add_signed(ticks));
    }

    /// What a stop has taken that `began` then. `None` if an interruption is in it, or if time is simulated.
    pub(crate) fn taken_since(&self, began: Ticks) -> Option<i64> {
        let taken = elapsed(began, on_cpu::now());
        let is_undisturbed = self.detector.is_armed_by_any() && !self.detector.rearmed_since(began);
        (is_undisturbed && self.simulated_cold_path.get().is_none()).then_some(taken)
    }
}
