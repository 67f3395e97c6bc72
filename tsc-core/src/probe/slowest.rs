//! Keeps a call that stops if it is among its record's slowest.
//!
//! Its callers are not known at its stop: timed calls are not linked to each other, except in programs that have light probes, too. So the
//! thread notes when it has kept a call, and each call around it adds itself when it stops. They all take the path of unusual calls, because
//! they have started before.

use crate::process;
use crate::record::kept::Noted;
use crate::record::slowest::{Callers, SlowCall};
use crate::record::thread::Thread;
use crate::record::{Record, light};
use crate::recorded::Value;
use crate::tsc::Ticks;

/// Keeps a call that is slow, of which the times are known.
#[cold]
#[inline(never)]
pub(super) fn keep(record: &Record, thread: &Thread, call: SlowCall) {
    let callers = linked_callers(thread, record.id);
    let kept = record.keep(SlowCall {
        cpu: process::cpu(),
        panicked: std::thread::panicking(),
        callers: callers.unwrap_or_default(),
        // That of an async function is known by now; that of another one is added later.
        value: value_for(thread, record.id),
        ..call
    });
    if kept {
        let (number, begin, end) = (record.id, call.begin, call.end);
        thread.note_kept(Noted { number, begin, end }, callers.is_none());
    }
}

/// The value of an async function's call that is about to complete, if it is one of this callsite.
fn value_for(thread: &Thread, number: u32) -> Option<Value> {
    let (its, value) = thread.kept.value.get()?;
    (its == number).then_some(value)
}

/// The callers of a call, but for itself. `None` if the thread does not link its calls.
fn linked_callers(thread: &Thread, own: u32) -> Option<Callers> {
    if !thread.is_mixed() {
        return None;
    }
    let mut callers = Callers::default();
    let others = light::this().running().filter(|&number| number != own);
    others.for_each(|number| callers.add(number));
    Some(callers)
}

/// Called at the stop of a call in which others may have been kept: it is a caller of those.
pub(super) fn add_caller(thread: &Thread, number: u32, start: Ticks) {
    thread.for_each_kept_since(start, |record| {
        if record.id != number {
            record.add_caller_since(start, number);
        }
    });
}

#[cfg(test)]
mod tests;
