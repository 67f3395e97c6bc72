//! Keeps a call that stops if it is among its record's slowest.
//!
//! Its callers are not known at its stop: timed calls are not linked to each other, except in programs that have light probes, too. So the
//! thread notes when it has kept a call, and each call around it adds itself when it stops. They all take the path of unusual calls, because
//! they have started before.

use crate::process;
use crate::record::slowest::{Callers, SlowCall};
use crate::record::thread::Thread;
use crate::record::{Record, light};
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

/// Keeps the call if it is among the slowest. By `ticks` calls are compared.
pub(super) fn keep(record: &Record, thread: &Thread, times: &Times, ticks: i64) {
    if record.is_slow(ticks) {
        keep_slow(record, thread, times, ticks);
    }
}

#[cold]
#[inline(never)]
fn keep_slow(record: &Record, thread: &Thread, times: &Times, ticks: i64) {
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
        // That of an async function is known by now; that of another one is added later.
        value: thread.kept.value_for(record.id),
    });
    if kept {
        thread.note_kept(record.id, begin, end, callers.is_none());
    }
}

/// The callers of a call, but for itself. `None` if the thread does not link its calls.
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
pub(super) fn add_caller(thread: &Thread, number: u32, start: Ticks) {
    thread.for_each_kept_since(start, |record| {
        if record.id != number {
            record.add_caller_since(start, number);
        }
    });
}

#[cfg(test)]
mod tests;
