//! Compares the times of light probes with what is known of the work: `cargo run --release -p overhead --bin light`.
//!
//! It prints a Markdown table whose rows have their targets. If a row misses it, the row says so, but the program does not fail, because other
//! programs may use the machine. Each part is a process, because the clock ticks most often when it is young. All of it takes three minutes.

mod callees;
#[cfg(target_os = "linux")]
mod requests;
mod server;
mod workers;

use std::hint::black_box;
use std::io;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Duration;

use tsc_runtime::{CallsiteReport, Report, snapshot};

use overhead::table;
use overhead::target::print;

fn main() -> ExitCode {
    if cfg!(debug_assertions) {
        eprintln!("light: build it with --release; figures of a debug build mean nothing");
        return ExitCode::FAILURE;
    }
    match std::env::args().nth(1) {
        None => run_all(),
        #[cfg(target_os = "linux")]
        Some(part) if part == requests::CLIENTS => {
            requests::send();
            Ok(())
        }
        Some(part) => {
            for (name, run) in PARTS {
                if *name == part {
                    run();
                }
            }
            Ok(())
        }
    }
    .map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

const PARTS: &[(&str, fn())] = &[
    ("server", server::run_alone),
    ("busy", server::run_beside_others),
    #[cfg(target_os = "linux")]
    ("requests", requests::run),
    ("workers", workers::run),
    ("callees", callees::run),
    ("idle", idle),
];

fn run_all() -> io::Result<()> {
    table::heading("Light probes", &["what", "must be", "measured", "met"]);
    for (part, _) in PARTS {
        Command::new(std::env::current_exe()?)
            .arg(part)
            .env("TSC_REPORT", "off")
            .status()?;
    }
    Ok(())
}

/// Work that nothing can shorten; about 2 ns for each step.
fn work(steps: u64) -> u64 {
    work_on(1, steps)
}

/// The same, beginning with a value.
fn work_on(value: u64, steps: u64) -> u64 {
    (0..steps).fold(value, |value, _| {
        black_box(value)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(7)
    })
}

/// Starts the clock.
#[tsc_runtime::cycles(light)]
fn light_once() {
    black_box(());
}

/// The process does nothing for some seconds.
fn idle() {
    light_once();
    // Until the clock has noticed.
    thread::sleep(Duration::from_secs(2));
    let clock = Clock::now();
    thread::sleep(Duration::from_secs(20));
    let share = clock.share_since();
    print(
        "the clock's share of a CPU while the process sleeps",
        "≤ 0.1 %",
        format!("{share:.3} %"),
        share <= 0.1,
    );
}

/// What the clock's thread has had of a CPU.
struct Clock {
    age: u64,
    cost: u64,
}

impl Clock {
    fn now() -> Self {
        let report = snapshot();
        let clock = report.tick_clock();
        Self {
            age: clock.map_or(0, |clock| clock.age_ns()),
            cost: clock.map_or(0, |clock| clock.cpu_ns()),
        }
    }

    /// The share of a CPU since then, in %.
    fn share_since(&self) -> f64 {
        let now = Self::now();
        100.0 * (now.cost - self.cost) as f64 / (now.age - self.age).max(1) as f64
    }

    fn print(&self, during: &str) {
        let share = self.share_since();
        print(
            &format!("the clock's share of a CPU, {during}"),
            "≤ 3 %",
            format!("{share:.2} %"),
            share <= 3.0,
        );
    }
}

fn row<'a>(report: &'a Report, name: &str) -> &'a CallsiteReport {
    report.callsite(name).expect("it was called")
}

/// The self time on the CPU of a row, in ticks.
fn own(report: &Report, name: &str) -> f64 {
    row(report, name).self_on_cpu_ticks().unwrap_or(0.0)
}

/// The least and the largest value.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold(
        (f64::INFINITY, f64::NEG_INFINITY),
        |(least, most), value| (least.min(value), most.max(value)),
    )
}
