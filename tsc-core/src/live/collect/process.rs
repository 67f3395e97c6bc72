//! The process: its number and arguments, when it began to measure, and its CPU time since then.

use std::ffi::OsString;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::timestamp;
use crate::process::cpu_time::of_program;
use crate::tick_clock;
use crate::tsc::{Ticks, clock, elapsed, os_clock};
use tsc_report::Process;

/// When this process began to measure: in nanoseconds since 1970, and by the monotonic clock.
static STARTED_UNIX_NS: AtomicU64 = AtomicU64::new(0);
static STARTED_NS: AtomicU64 = AtomicU64::new(0);
/// The same by the clock that counts ticks.
static STARTED_TICKS: AtomicU64 = AtomicU64::new(0);

/// From when on calls are reported: after the latest reset. Nanoseconds since the process began to measure.
static SINCE_NS: AtomicU64 = AtomicU64::new(0);
/// The CPU time of the process until then.
static SINCE_CPU_NS: AtomicU64 = AtomicU64::new(0);

/// Notes that the process begins to measure now.
pub(in crate::live) fn begin() {
    STARTED_UNIX_NS.store(os_clock::unix_now(), Relaxed);
    STARTED_NS.store(os_clock::now(), Relaxed);
    SINCE_CPU_NS.store(of_program().unwrap_or(0), Relaxed);
    STARTED_TICKS.store(clock::now(), Relaxed);
}

/// Resets the times.
#[cfg(all(unix, not(miri)))]
pub(in crate::live) fn start_from_zero() {
    STARTED_UNIX_NS.store(0, Relaxed);
    SINCE_NS.store(0, Relaxed);
}

/// When this process began to measure, in nanoseconds since 1970; 0 if it has not.
pub(in crate::live) fn process_started() -> u64 {
    STARTED_UNIX_NS.load(Relaxed)
}

/// Notes that the figures were reset, so that later reports begin here, or where a report of everything before ends.
pub(in crate::live) fn begin_anew(last: Option<&Process>) {
    let end = last.map_or_else(since_start, |last| last.span().1);
    SINCE_NS.store(end, Relaxed);
    let reported = last.and_then(|last| last.cpu_ns);
    let cpu = reported.map(|reported| SINCE_CPU_NS.load(Relaxed).saturating_add(reported));
    SINCE_CPU_NS.store(cpu.or_else(of_program).unwrap_or(0), Relaxed);
    tick_clock::begin_anew();
}

/// The time since this process began to measure, in nanoseconds; 0 if it has not.
fn since_start() -> u64 {
    match process_started() {
        0 => 0,
        _ => os_clock::now().saturating_sub(STARTED_NS.load(Relaxed)),
    }
}

/// When ticks were counted. It is exact at the process's start and now, and in between the counter's rate need not be known.
pub(super) struct Timeline {
    started: Ticks,
    now: Ticks,
    now_ns: u64,
}

impl Timeline {
    pub(super) fn now() -> Self {
        Self {
            started: STARTED_TICKS.load(Relaxed),
            now: clock::now(),
            now_ns: since_start(),
        }
    }

    /// The nanoseconds from the process's start to `ticks`.
    pub(super) fn nanoseconds(&self, ticks: Ticks) -> u64 {
        let whole = elapsed(self.started, self.now).max(1);
        let part = elapsed(self.started, ticks).clamp(0, whole);
        (i128::from(part) * i128::from(self.now_ns) / i128::from(whole)) as u64
    }
}

/// The data of this process, as it is now.
pub(in crate::live) fn collect_process() -> Process {
    let started = process_started();
    let begun = (started != 0).then(|| timestamp::rfc3339(started));
    let as_text = |argument: OsString| argument.to_string_lossy().into_owned();
    let mut process = Process {
        argv: std::env::args_os().map(as_text).collect(),
        pid: crate::process::id(),
        host: host(),
        started: begun.unwrap_or_default(),
        cpu_ns: of_program().map(|now| match started {
            // What it has used before is in no report.
            0 => 0,
            _ => now.saturating_sub(SINCE_CPU_NS.load(Relaxed)),
        }),
        ..Process::default()
    };
    process.set_span((SINCE_NS.load(Relaxed), since_start()));
    process
}

/// The machine's name.
#[cfg(all(unix, not(miri)))]
pub(in crate::live) fn host() -> String {
    let mut name = [0_u8; 256];
    // SAFETY: the buffer has room for that many bytes, and its last byte stays 0.
    let failed = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) } != 0;
    if failed {
        return "unknown".to_owned();
    }
    let len = name.iter().position(|&byte| byte == 0).unwrap_or(0);
    String::from_utf8_lossy(&name[..len]).into_owned()
}

/// The machine's name.
#[cfg(not(all(unix, not(miri))))]
pub(in crate::live) fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_else(|_| "unknown".to_owned())
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::since_start;
    use crate::probe::{Probe, Slot};
    use crate::record::callsite::{Callsite, meta};
    use crate::tsc::Lfence;

    #[test]
    fn time_of_a_report_is_not_the_programs() {
        static CALLSITE: Callsite = Callsite::new::<Lfence>(meta(&(), module_path!(), line!()));
        drop(Probe::<Lfence>::start(&CALLSITE, &mut Slot::new()));
        // Another process may delay some of the reports.
        let is_left_out = |_| {
            let begin = since_start();
            let took = crate::snapshot().process().duration_ns();
            let end = since_start();
            took - begin < (end - begin) / 2
        };
        assert!((0..20).any(is_left_out));
    }
}
