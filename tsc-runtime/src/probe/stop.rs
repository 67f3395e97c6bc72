//! The stop of everything but usual calls: what a call, a poll or a section was, and what it cost.

use super::off_cpu::find_loss;
use super::slot::{Started, Sums};
use super::slowest::{self, Times};
use super::{Settled, settle};
use crate::interruption::Interruption;
use crate::on_cpu::{self, Loss};
use crate::record::thread::Thread;
use crate::record::{Exclusion, Record};
use crate::registry;
use crate::tsc::{Ticks, is_anomalous};

/// A measurement that stops.
#[derive(Clone, Copy)]
pub(super) struct Measurement<'a> {
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
    /// The ticks on the CPU, with the measurement's own visible overhead.
    pub(super) gross: u64,
    /// The ticks in which the thread was blocked.
    pub(super) blocked: i64,
    /// The overhead of probes in it.
    pub(super) nested: u64,
    /// The gross ticks without the visible overhead.
    pub(super) net: u64,
    /// The gross ticks with those off the CPU.
    pub(super) wall: u64,
    /// What was lost off the CPU.
    pub(super) loss: Loss,
    /// When it stopped.
    pub(super) end: Ticks,
    /// Why this is not an ordinary sample.
    pub(super) unusual: Option<Exclusion>,
}

impl<'a> Measurement<'a> {
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
    pub(super) fn stop(self, raw: i64, unusual: Option<Exclusion>, record: impl FnOnce(&Cost)) {
        if is_anomalous(raw) {
            return record(&self.settle_anomaly());
        }
        let Self {
            thread,
            start,
            mut sums,
            ..
        } = self;
        if self.shape == Shape::Nested && thread.kept.is_any_since(start) {
            slowest::add_caller(thread, self.record.id, start);
        }
        let after = find_loss(thread, sums.overhead, raw);
        // If the thread was interrupted between the check at the start and the read of the counter, a callee's start has found that loss. It
        // lies before the call, which cannot lose more than it took, and so it belongs to the caller.
        let before = thread.overhead_since(sums.overhead).saturating_sub(raw);
        sums.overhead = sums.overhead.wrapping_add_signed(before.max(0));
        let inside = match self.shape {
            Shape::Nested => thread.claim_loss(start, sums.overhead),
            Shape::Overlapping => thread.look_at_loss(start, sums.overhead),
        };
        if thread.detector.registered_since(start) {
            self.record
                .add_registration_cost(registry::registration_cost_since(sums.overhead));
        }
        let (off, blocked) = (inside.loss.off, inside.loss.blocked());
        let Settled { gross, nested, net } = match self.shape {
            Shape::Nested => settle(self.record, thread, sums, raw.cast_unsigned(), off),
            Shape::Overlapping => {
                Self { sums, ..self }.settle_overlapping(raw.cast_unsigned(), off)
            }
        };
        self.record.add_off_cpu(&inside);
        record(&Cost {
            gross,
            blocked,
            nested,
            net,
            wall: gross.wrapping_add_signed(off),
            loss: inside.loss,
            end: start.wrapping_add_signed(raw),
            unusual,
        });
        after.add_to(thread);
    }

    /// The counter has gone backwards. So the ticks are unknown, and the calls around this see its overhead, but no work.
    fn settle_anomaly(&self) -> Cost {
        self.thread.add_overhead(self.cost_of_stop().cast_signed());
        if self.shape == Shape::Nested {
            self.thread.work.set(self.sums.work);
        }
        Cost {
            gross: 0,
            blocked: 0,
            nested: 0,
            net: 0,
            wall: 0,
            loss: Loss::NONE,
            end: self.start,
            unusual: Some(Exclusion::Anomalous),
        }
    }

    /// Like [`settle`], for a section.
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
    /// The net ticks on the CPU and blocked: what the measurement would have taken on a free machine.
    pub(super) fn net_sample(&self) -> i64 {
        self.net.cast_signed().wrapping_add(self.blocked)
    }

    /// Adds a call or a section to its record.
    pub(super) fn record(&self, call: &Measurement<'_>) {
        let (record, thread) = (call.record, call.thread);
        let sample = self.gross.wrapping_add_signed(self.blocked);
        record.end_activation(self.gross, self.nested);
        match self.unusual {
            None => record.add_sample(sample),
            Some(Exclusion::Interrupted) => {
                record.add_interrupted(sample, self.wall, self.is_repaired(record, thread));
            }
            Some(why) => record.add_excluded(why, sample),
        }
        if let Some(times) = self.times(call) {
            slowest::keep(record, thread, &times, self.net_sample());
        }
    }

    /// Whether an interrupted call took so long that the uncertainty of its context switches does not matter.
    fn is_repaired(&self, record: &Record, thread: &Thread) -> bool {
        if !thread.on_cpu.asks() {
            record.add_unasked();
            return false;
        }
        let switches = self.loss.switches;
        switches != 0 && on_cpu::is_certain(self.net_sample(), self.blocked, switches)
    }

    /// The times of a call or a section; `None` if its ticks are unknown.
    fn times(&self, call: &Measurement<'_>) -> Option<Times> {
        let knows = match self.unusual {
            None => true,
            Some(Exclusion::Interrupted) => call.thread.on_cpu.asks(),
            Some(Exclusion::Unknown) => false,
            Some(Exclusion::Anomalous) => return None,
        };
        let Cost {
            net, blocked, loss, ..
        } = *self;
        let is_split = knows && loss.is_split;
        Some(Times {
            begin: call.start,
            end: self.end,
            on_cpu: knows.then_some(net.cast_signed()),
            blocked: is_split.then_some(blocked),
            waiting: is_split.then_some(loss.waiting),
        })
    }
}
