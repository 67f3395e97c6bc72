//! What several integration tests use. Tests that use the runtime in their own process are in `runtime`, and the programs that some of
//! them start are in `programs`.

pub mod allocations;
pub mod folder;
pub mod sandboxed;

use std::ffi::OsStr;
use std::io::{self, Write as _};
#[cfg(unix)]
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
#[cfg(unix)]
use std::process::Output;
#[cfg(unix)]
use std::time::Duration;

use tsc_runtime::__private::{Callsite, Probe, Slot, meta};
use tsc_runtime::tsc::FencePolicy;
use tsc_runtime::{CallsiteReport, Report, snapshot};

/// Prints that a test is skipped. The line is visible even if the output of passing tests is hidden.
pub fn skipped(why: &str) {
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    // The test harness captures the output of `eprintln!`, so write to stderr directly. If it is closed, nobody wants the line.
    let _: io::Result<()> = writeln!(io::stderr(), "skipped: {name}: {why}");
}

/// Whether `GLIBC_TUNABLES` can tell the C library of this build not to register rseq. If not, prints that the test is skipped.
#[must_use]
pub fn can_disable_rseq() -> bool {
    let can = cfg!(target_env = "gnu");
    if !can {
        skipped("only glibc can be told not to register rseq");
    }
    can
}

/// The command that starts a program without the variables with which the user of these tests measures.
#[must_use]
pub fn program(path: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(path);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("TSC_") || name == "NO_COLOR" {
            command.env_remove(name);
        }
    }
    command
}

/// Runs a program and returns its output.
///
/// # Panics
///
/// If it does not end by itself, or does not report success.
#[cfg(unix)]
pub fn run(command: &mut Command) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_ne!(
        output.status.signal(),
        Some(libc::SIGALRM),
        "hung:\n{out}{err}"
    );
    assert!(output.status.success(), "{}:\n{out}{err}", output.status);
    output
}

/// What a program has printed.
#[must_use]
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The row of the callsite `name`, which was called.
///
/// # Panics
///
/// If it was not.
#[must_use]
pub fn row(name: &str) -> CallsiteReport {
    snapshot()
        .callsite(name)
        .unwrap_or_else(|| panic!("\"{name}\" was not called"))
        .clone()
}

/// How often the callsite `name` was called, which may be never.
#[must_use]
pub fn calls(name: &str) -> u64 {
    snapshot().callsite(name).map_or(0, CallsiteReport::calls)
}

/// Whether the time of `sleeper`, which has slept in each call, is split into on the CPU, blocked and waiting. If not, prints that the
/// test is skipped.
///
/// # Panics
///
/// If it was not called.
#[must_use]
pub fn is_split(report: &Report, sleeper: &str) -> bool {
    let clock = report.clock();
    let row = report.callsite(sleeper).expect("it was called");
    let why = clock
        .no_interruptions_because()
        .or(clock.no_on_cpu_because())
        .or(row
            .blocked_ticks()
            .is_none()
            .then_some("no statistics of waiting"));
    why.inspect(|why| skipped(why)).is_none() && shows_sleep(row)
}

/// Whether the kernel shows that a thread slept in each call of `sleeper`, where interruptions are detected at all. If not, prints that the
/// test is skipped: from Linux 6.19 on, a switch inside a blocking system call may leave no trace.
#[must_use]
pub fn shows_sleep(sleeper: &CallsiteReport) -> bool {
    let does = sleeper.interrupted().is_none_or(|of| of == sleeper.calls());
    if !does {
        skipped("this kernel does not show that a thread slept");
    }
    does
}

/// The CPU time of this thread so far.
///
/// # Panics
///
/// If the kernel refuses to tell.
#[cfg(unix)]
#[must_use]
pub fn cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes one timespec.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(failed, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The resident memory of the process; 0 but on Linux.
///
/// # Panics
///
/// If Linux does not tell.
#[must_use]
pub fn resident_bytes() -> usize {
    if !cfg!(target_os = "linux") {
        return 0;
    }
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux tells");
    let pages = statm.split(' ').nth(1).expect("the second of its numbers");
    pages.parse::<usize>().expect("it is a number") * 4096
}

/// The folder of what cargo builds below `target` with this profile, for the target of these tests if `CARGO_BUILD_TARGET` names one.
#[must_use]
pub fn built(target: &Path, profile: &str) -> PathBuf {
    target
        .join(std::env::var_os("CARGO_BUILD_TARGET").unwrap_or_default())
        .join(profile)
}

/// A callsite made at run time, as `per_type` makes them.
#[must_use]
pub fn callsite<P: FencePolicy>(name: impl Into<String>) -> &'static Callsite {
    Box::leak(Box::new(Callsite::new::<P>(
        meta(&(), module_path!(), line!()).named(name.into().leak()),
    )))
}

/// A call of that callsite that calls `inside`.
pub fn call<P: FencePolicy>(callsite: &'static Callsite, inside: impl FnOnce()) {
    let mut slot = Slot::new();
    let _probe = Probe::<P>::start(callsite, &mut slot);
    inside();
}
