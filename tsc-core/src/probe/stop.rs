//! The stop of polls, of sections, and of all calls but usual ones: what it was, and what it cost.

use super::slot::Started;
use super::slowest;
use crate::interruption::Interruption;
use crate::on_cpu::{self, Answer, Loss};
use crate::record::contexts::Contexts;
use crate::record::counters::ContextSums;
use crate::record::slowest::SlowCall;
use crate::record::thread::Thread;
use crate::record::{Exclusion, Record, Settled, Sums};
use crate::tsc::{Ticks, is_anomalous};

/// A measurement that stops.
#[derive(Clone, Copy)]
pub(super) struct Activation<'a> {
    pub(super) record: &'a Record,
    pub(super) thread: &'a Thread,
    pub(super) start: Ticks,
    /// The thread's sums at the start.
    pub(super) sums: Sums,
    pub(super) shape: Shape,
    /// Whether the counter was read at its ends. Otherwise it is unknown whether it was interrupted.
    pub(super) is_timed: bool,
}

/// How measurements of a thread lie to each other.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Shape {
    /// Calls and polls: one contains another or comes after it.
    Nested,
    /// Sections may overlap. Therefore a section does not change whose work and whose loss something is, and half of its cost is added to
    /// the thread's overhead at either end.
    Overlapping,
}

/// What a measurement has cost its program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    /// The ticks on the CPU.
    pub(super) ticks: Settled,
    /// What was lost off the CPU.
    pub(super) loss: Loss,
    /// When it stopped.
    end: Ticks,
    /// Why this is not an ordinary sample.
    pub(super) unusual: Option<Exclusion>,
}

impl<'a> Activation<'a> {
    /// A call or a poll.
    pub(super) fn of(started: &'a Started) -> Self {
        Self {
            record: started.record(),
            thread: started.thread(),
            start: started.start(),
            sums: started.sums(),
            shape: Shape::Nested,
            is_timed: started.is_timed(),
        }
    }

    /// What the detector says of it.
    pub(super) fn verdict(&self) -> Option<Exclusion> {
        match self.thread.detector.verdict(self.start) {
            _ if !self.is_timed => Some(Exclusion::Unknown),
            Interruption::Clean => None,
            Interruption::Interrupted => Some(Exclusion::Interrupted),
            Interruption::Unknown => Some(Exclusion::Unknown),
        }
    }

    /// Stops after `raw` ticks: finds what was lost off the CPU, updates the thread's running sums, and gives `record` the cost. What comes
    /// after that is the caller's.
    pub(super) fn stop(mut self, raw: i64, record: impl FnOnce(&Cost)) {
        let unusual = self.verdict();
        if is_anomalous(raw) {
            return record(&self.settle_anomaly());
        }
        let (loss, after) = if self.thread.detector.is_undisturbed_since(self.start) {
            (Loss::NONE, None)
        } else {
            self.find_loss(raw)
        };
        let (Self { start, sums, .. }, raw) = (self, raw.cast_unsigned());
        record(&Cost {
            ticks: match self.shape {
                Shape::Nested => {
                    let record = self.record;
                    record.settle_with_handlers(self.thread, sums, raw, loss.off)
                }
                Shape::Overlapping => self.settle_overlapping(raw, loss.off),
            },
            loss,
            end: start.wrapping_add(raw),
            unusual,
        });
        if let Some((answer, after)) = after {
            // The rest of the loss, and the time for finding it, belong to the caller.
            if after.off != 0 {
                self.thread.add_loss(answer.at, after);
            }
            let cost = self.thread.add_cost_of_asking(&answer);
            self.record.counters.extra_cost.add(cost);
        }
    }

    /// What was lost off the CPU, and the kernel's answer with the part of the loss that lies after the stop. Notes what else has happened
    /// since the start: slow calls that were kept, and registrations.
    fn find_loss(&mut self, raw: i64) -> (Loss, Option<(Answer, Loss)>) {
        let (record, thread, start) = (self.record, self.thread, self.start);
        if self.shape == Shape::Nested {
            slowest::add_caller(thread, record.id, start);
        }
        let after = self.ask(raw);
        // If the thread was interrupted between the check at the start and the read of the counter, a callee's start has found that loss. It
        // lies before the call, which cannot lose more than it took, and so it belongs to the caller.
        let at_start = self.sums.overhead;
        let before = thread.overhead_since(at_start).saturating_sub(raw);
        self.sums.overhead = at_start.wrapping_add_signed(before.max(0));
        let at_most = thread.overhead_since(self.sums.overhead);
        let inside = match self.shape {
            Shape::Nested => thread.on_cpu.claim_since(start, at_most),
            Shape::Overlapping => thread.on_cpu.lost_since(start, at_most),
        };
        record.add_lost(&inside);
        (inside.loss, after)
    }

    /// Asks the kernel what was lost if the detector was cleared. In the cold path it does not ask, because the end of the cold path asks for
    /// everything that was lost in it.
    fn ask(&self, raw: i64) -> Option<(Answer, Loss)> {
        let thread = self.thread;
        if thread.is_busy() || !thread.detector.arm() {
            return None;
        }
        let answer = thread.on_cpu.ask(false)?;
        // The thread may have been interrupted after the counter was read. A call cannot lose more than it took.
        let room = raw.wrapping_sub(thread.overhead_since(self.sums.overhead));
        let (inside, after) = answer.loss.split_at(room);
        thread.add_loss(answer.at, inside);
        Some((answer, after))
    }

    /// The counter has gone backwards. So the ticks are unknown, and the calls around this see its overhead and its callees' work only.
    fn settle_anomaly(&self) -> Cost {
        self.thread.add_overhead(self.cost_of_stop().cast_signed());
        self.record.take_registration();
        Cost {
            ticks: Settled::default(),
            loss: Loss::NONE,
            end: self.start,
            unusual: Some(Exclusion::Anomalous),
        }
    }

    /// Like [`Record::settle_with_handlers`], for a section.
    fn settle_overlapping(&self, raw: u64, off: i64) -> Settled {
        let now = Sums::of(self.thread);
        let added = now.overhead.wrapping_sub(self.sums.overhead);
        let nested = added.wrapping_sub(off.cast_unsigned());
        let gross = raw.wrapping_sub(added);
        self.thread.add_overhead(self.cost_of_stop().cast_signed());
        // If a function began before the section and ended in it, the nested ticks can exceed the section's.
        let callees = now.work.wrapping_sub(self.sums.work).cast_signed();
        let callees = callees.clamp(0, gross.cast_signed().max(0));
        if nested != 0 || callees != 0 {
            self.record.add_nested(nested, callees.cast_unsigned());
        }
        let net = gross.wrapping_sub(self.record.visible.get());
        Settled { gross, nested, net }
    }

    /// What of the probe's cost the stop adds to the thread's overhead.
    fn cost_of_stop(&self) -> u64 {
        let cost = self.record.cost.get();
        match self.shape {
            Shape::Nested => cost,
            Shape::Overlapping => cost.div_ceil(2),
        }
    }
}

impl Cost {
    /// The gross ticks on the CPU and blocked.
    pub(super) fn sample(&self) -> u64 {
        self.ticks.gross.wrapping_add_signed(self.loss.blocked())
    }

    /// The net ticks on the CPU and blocked: what the measurement would have taken on a free machine.
    pub(super) fn net_sample(&self) -> i64 {
        let net = self.ticks.net.cast_signed();
        net.wrapping_add(self.loss.blocked())
    }

    /// Adds a call or a section to its record.
    pub(super) fn record(&self, call: &Activation<'_>) {
        let (record, ticks) = (call.record, self.net_sample());
        record.end_activation(self.ticks.gross, self.ticks.nested);
        let wall = self.ticks.gross.wrapping_add_signed(self.loss.off);
        // It was on the CPU or blocked for so long that the uncertainty of its context switches does not matter.
        let is_certain = |switches| on_cpu::is_certain(ticks, self.loss.blocked(), switches);
        let is_repaired = self.switches(call).is_some_and(is_certain);
        record.add_call(self.unusual, self.sample(), wall, is_repaired);
        if record.is_slow(ticks)
            && let Some(slow) = self.slow_call(call)
        {
            slowest::keep(record, call.thread, slow);
        }
    }

    /// How often an interrupted call or poll came back to a CPU. If nobody can be asked, that is counted.
    pub(super) fn switches(&self, call: &Activation<'_>) -> Option<u32> {
        if self.unusual != Some(Exclusion::Interrupted) {
            return None;
        }
        if !call.thread.on_cpu.asks() {
            call.record.counters.unasked.add(1);
            return None;
        }
        Some(self.loss.switches).filter(|&switches| switches != 0)
    }

    /// The times of a call or a section; `None` if its ticks are unknown.
    fn slow_call(&self, call: &Activation<'_>) -> Option<SlowCall> {
        let knows = match self.unusual {
            None => true,
            Some(Exclusion::Interrupted) => call.thread.on_cpu.asks(),
            Some(Exclusion::Unknown) => false,
            Some(Exclusion::Anomalous) => return None,
        };
        let is_split = knows && self.loss.is_split;
        Some(SlowCall {
            begin: call.start,
            end: self.end,
            ticks: self.net_sample(),
            on_cpu: knows.then_some(self.ticks.net.cast_signed()),
            blocked: is_split.then_some(self.loss.blocked()),
            waiting: is_split.then_some(self.loss.waiting),
            ..SlowCall::default()
        })
    }
}

/// What is known of a call in the tree before its stop updates the thread's sums and the record.
pub(super) struct Visit {
    /// 0 for a poll.
    calls: u64,
    is_clean: bool,
    is_inner: bool,
    work: u64,
    blocked: i64,
}

impl Visit {
    pub(super) fn of(started: &Started, calls: u64) -> Self {
        let call = Activation::of(started);
        Self {
            calls,
            is_clean: call.verdict().is_none(),
            is_inner: call.record.is_inner(),
            work: call.thread.work.get(),
            blocked: call.record.blocked(),
        }
    }

    /// Gives the call's place in the tree what the stop has added.
    pub(super) fn leave(self, contexts: &Contexts, started: &Started) {
        let call = Activation::of(started);
        let work = call.thread.work.get();
        let ticks_since = |then| work.wrapping_sub(then).cast_signed();
        let sums = ContextSums {
            calls: self.calls,
            // Of a recursion, the outermost call's.
            on_cpu: ticks_since(call.sums.work) * i64::from(!self.is_inner),
            own: ticks_since(self.work),
            blocked: call.record.blocked().wrapping_sub(self.blocked),
            unclean: if self.is_clean { 0 } else { self.calls },
        };
        // In the child of a fork, the parent's calls have no place in the child's tree, as they have no rows.
        if contexts.has_begun_by(started.start()) {
            // SAFETY: the call has a place in the tree.
            contexts.leave(unsafe { started.outer() }, &sums);
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
