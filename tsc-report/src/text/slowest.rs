//! The lines below a row that name its slowest calls.

use super::names::escaped;
use super::notes::wrapped;
use super::scale::Scale;
use crate::{CallsiteReport, Report, SlowCall, TextUnit};

/// What is to be said of each call: when, how long, where its time went, where it ran, and through which callers.
pub(super) fn lines(report: &Report, callsite: &CallsiteReport, width: usize) -> Vec<String> {
    let lines = callsite.slowest.iter().map(|call| line(report, call));
    lines.flat_map(|line| wrapped(&line, width)).collect()
}

fn line(report: &Report, call: &SlowCall) -> String {
    let scale = &Scale::new(&report.clock, TextUnit::Time);
    let mut line = format!(
        "slow call: {} at {:.6} s",
        scale.figure(call.ticks()),
        call.begin_ns as f64 / 1e9
    );
    if let Some(value) = &call.value {
        line += &format!(", recorded {}", escaped(&value.to_string()));
    }
    line += &format!(": {}", parts(call, scale));
    if call.panicked {
        line += "; panicked";
    }
    line += &format!("; thread {}", call.thread);
    if let Some(name) = &call.thread_name {
        line += &format!(" {}", escaped(name));
    }
    if report.processes > 1 {
        line += &format!(" of process {}", call.pid);
    }
    if let Some(cpu) = call.cpu {
        line += &format!(", CPU {cpu}");
    }
    // The row itself is the first.
    let callers = call.path.iter().skip(1);
    let callers = callers.filter_map(|&index| report.callsites.get(index as usize));
    let names: Vec<String> = callers.map(|caller| escaped(&caller.name)).collect();
    if !names.is_empty() {
        line += &format!("; called by {}", names.join(" < "));
    }
    line
}

/// Where the time went.
fn parts(call: &SlowCall, scale: &Scale) -> String {
    let share = |ticks: f64| (ticks / call.ticks().max(1.0) * 100.0).max(0.0);
    let known = |ticks| format!("{:.1} % on the CPU", share(ticks));
    let unknown = || "its time on the CPU is unknown".to_owned();
    let mut parts = call.on_cpu_ticks().map_or_else(unknown, known);
    let blocked = call.blocked_ticks().filter(|_| call.on_cpu_ticks.is_some());
    if let Some(ticks) = blocked {
        parts += &format!(", {:.1} % blocked", share(ticks));
    }
    if let Some(waiting) = call.waiting_ticks().filter(|&waiting| waiting > 0.0) {
        parts += &format!(", and {} waiting for a CPU", scale.figure(waiting));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::WholeTicks;
    use crate::{Clock, RecordedValue};

    fn report(call: SlowCall) -> Report {
        let row = |name: &str| CallsiteReport {
            name: name.to_owned(),
            ..CallsiteReport::default()
        };
        let mut row_of_call = row("query");
        row_of_call.slowest = vec![call];
        Report {
            clock: Clock {
                hz: Some(1e9),
                ..Clock::default()
            },
            callsites: vec![row_of_call, row("handle"), row("serve")],
            ..Report::default()
        }
    }

    fn call() -> SlowCall {
        SlowCall {
            begin_ns: 1_250_000_000,
            thread: 4711,
            ticks: WholeTicks(3_070_000),
            path: vec![0],
            ..SlowCall::default()
        }
    }

    fn text(report: &Report) -> String {
        lines(report, &report.callsites[0], usize::MAX).join("\n")
    }

    #[test]
    fn line_says_all_that_is_known() {
        let known = SlowCall {
            thread_name: Some("worker-3".to_owned()),
            cpu: Some(1),
            on_cpu_ticks: Some(WholeTicks(30_700)),
            blocked_ticks: Some(WholeTicks(3_039_300)),
            waiting_ticks: Some(WholeTicks(12_000)),
            panicked: true,
            path: vec![0, 1, 2],
            value: Some(RecordedValue::Text("/orders\n".to_owned())),
            ..call()
        };
        assert_eq!(
            text(&report(known)),
            "        slow call: 3.07ms at 1.250000 s, recorded /orders\\n: 1.0 % on the CPU, 99.0 % blocked, and 12.0µs waiting for a CPU; panicked; \
             thread 4711 worker-3, CPU 1; called by handle < serve"
        );
    }

    #[test]
    fn line_says_what_is_unknown() {
        let mut report = report(call());
        report.clock.hz = None;
        report.processes = 2;
        assert_eq!(
            text(&report),
            "        slow call: 3070000 ticks at 1.250000 s: its time on the CPU is unknown; thread 4711 of process 0"
        );
    }
}
