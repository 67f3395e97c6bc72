//! Keeps a call that stops if it is among its record's slowest.
//!
//! Its callers are not known at its stop: timed calls are not linked to each other, except in programs that have light probes, too. So the
//! thread notes when it has kept a call, and each call around it adds itself when it stops. They all take the path of unusual calls, because
//! they have started before.

use super::stop::{Cost, Measurement};
use crate::process;
use crate::record::light;
use crate::record::slowest::{Callers, SlowCall};
use crate::record::thread::Thread;
use crate::record::{Exclusion, Record};
use crate::recorded::Value;
use crate::tsc::Ticks;

/// The times of a call that stops.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) begin: Ticks,
    pub(super) end: Ticks,
    pub(super) on_cpu: Option<i64>,
    pub(super) blocked: Option<i64>,
    pub(super) waiting: Option<i64>,
}

impl Times {
    /// Those of a call or a section; `None` if its ticks are unknown.
    pub(super) fn of(call: &Measurement<'_>, cost: &Cost) -> Option<Self> {
        let knows = match cost.unusual {
            None => true,
            Some(Exclusion::Interrupted) => call.thread.on_cpu.asks(),
            Some(Exclusion::Unknown) => false,
            Some(Exclusion::Anomalous) => return None,
        };
        let Cost {
            net, blocked, loss, ..
        } = *cost;
        let is_split = knows && loss.is_split;
        Some(Self {
            begin: call.start,
            end: cost.end,
            on_cpu: knows.then_some(net.cast_signed()),
            blocked: is_split.then_some(blocked),
            waiting: is_split.then_some(loss.waiting),
        })
    }
}

/// Keeps the call if it is among the slowest. By `ticks` calls are compared.
pub(super) fn keep(record: &Record, thread: &Thread, times: &Times, ticks: i64) {
    if record.is_slow(ticks) {
        keep_slow(record, thread, times, ticks, None);
    }
}

/// The same for the call of an async function, which may have a value.
pub(super) fn keep_future(record: &Record, thread: &Thread, times: &Times, ticks: i64) {
    if record.is_slow(ticks) {
        let value = thread.kept.value_for(record.id);
        keep_slow(record, thread, times, ticks, value);
    }
}

#[cold]
#[inline(never)]
fn keep_slow(record: &Record, thread: &Thread, times: &Times, ticks: i64, value: Option<Value>) {
    let Times {
        begin,
        end,
        on_cpu,
        blocked,
        waiting,
    } = *times;
    let callers = linked_callers(thread, record.id);
    let kept = record.keep(&SlowCall {
        begin,
        end,
        ticks,
        on_cpu,
        blocked,
        waiting,
        cpu: process::cpu(),
        panicked: std::thread::panicking(),
        callers: callers.unwrap_or_default(),
        value,
    });
    if kept {
        thread.note_kept(record.id, begin, end, callers.is_none());
    }
}

/// The callers of a call whose frame was unlinked just now. `None` if the thread does not link its calls.
fn linked_callers(thread: &Thread, own: u32) -> Option<Callers> {
    if !thread.is_mixed() {
        return None;
    }
    let mut callers = Callers::default();
    let running = light::this().running();
    running
        .filter(|&number| number != own)
        .for_each(|number| callers.add(number));
    Some(callers)
}

/// Called at the stop of a call in which others were kept: it is a caller of those.
#[cold]
#[inline(never)]
pub(super) fn add_caller(call: &Measurement<'_>) {
    let number = call.record.id;
    call.thread.for_each_kept_since(call.start, |record| {
        if record.id != number {
            record.add_caller_since(call.start, number);
        }
    });
}

#[cfg(test)]
mod tests;
