//! Makes the report's slowest calls from the registry's.

use super::process::Timeline;
use crate::process;
use crate::record::slowest::{self, KeptCall};
use crate::recorded::Value;
use crate::registry::Recorded;
use tsc_report::__private::WholeTicks;
use tsc_report::{CallsiteReport, RecordedValue, SlowCall};

/// Gives each callsite its slowest calls.
pub(super) fn add_slowest(callsites: &mut [CallsiteReport], figures: &Recorded) {
    let timeline = Timeline::now();
    let index_of = |number| figures.index_of(number);
    for (index, (_, totals)) in (0..).zip(&figures.callsites) {
        let calls = totals.slowest.iter().map(|kept| {
            let callers = kept.call.callers.numbers().iter().copied();
            let path = [index].into_iter().chain(callers.filter_map(index_of));
            slow_call(kept, &timeline, path.collect())
        });
        let mut calls: Vec<SlowCall> = calls.collect();
        SlowCall::choose(&mut calls, slowest::wanted() as u64);
        callsites[index as usize].slowest = calls;
    }
}

fn slow_call(kept: &KeptCall, timeline: &Timeline, path: Vec<u64>) -> SlowCall {
    let KeptCall { call, thread } = kept;
    SlowCall {
        begin_ns: timeline.nanoseconds(call.begin),
        end_ns: timeline.nanoseconds(call.end),
        pid: process::id(),
        thread: thread.id,
        thread_name: thread.name.as_deref().map(str::to_owned),
        cpu: call.cpu,
        ticks: WholeTicks(call.ticks),
        on_cpu_ticks: call.on_cpu.map(WholeTicks),
        blocked_ticks: call.blocked.map(WholeTicks),
        waiting_ticks: call.waiting.map(WholeTicks),
        path,
        panicked: call.panicked,
        value: call.value.as_ref().map(value),
    }
}

fn value(value: &Value) -> RecordedValue {
    match *value {
        Value::Unsigned(value) => RecordedValue::Unsigned(value),
        Value::Signed(value) => RecordedValue::Signed(value),
        Value::Float(value) if value.is_finite() => RecordedValue::Float(value),
        Value::Float(value) => RecordedValue::Text(value.to_string()),
        Value::Bool(value) => RecordedValue::Bool(value),
        Value::Text(text) => RecordedValue::Text(text.as_str().to_owned()),
    }
}
