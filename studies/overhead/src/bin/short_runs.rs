//! What it costs a short program to be measured, whatever it does: the runtime's start, and the report at the end. Programs of a few calls
//! run in turns with the same one whose functions have no probes: `cargo run --release -p overhead --bin short_runs`. Linux only.

use std::hint::black_box;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use overhead::table;
use tsc_runtime::cycles;

const RUNS: usize = 101;

/// The forms of the program: the argument, and the form of the report.
const FORMS: [(&str, &str); 7] = [
    ("bare", "off"),
    ("timed", "off"),
    ("timed", "text"),
    ("timed", "json"),
    ("light", "off"),
    ("light", "text"),
    ("light", "json"),
];

#[inline(never)]
fn bare(rounds: u64) -> u64 {
    (0..rounds).fold(1, |x, i| black_box(x * (i | 1) % 1_000_003))
}

#[cycles]
#[inline(never)]
fn timed(rounds: u64) -> u64 {
    bare(rounds)
}

#[cycles(light)]
#[inline(never)]
fn light(rounds: u64) -> u64 {
    bare(rounds)
}

fn main() -> ExitCode {
    let work = match std::env::args().nth(1).as_deref() {
        None => return compare(),
        Some("bare") => bare,
        Some("timed") => timed,
        _ => light,
    };
    for _ in 0..black_box(10) {
        work(1000);
    }
    ExitCode::SUCCESS
}

/// The CPU time and the time of a run, in milliseconds.
fn run(form: &str, report: &str) -> [f64; 2] {
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(program);
    command.arg0("short").arg(form).env("TSC_REPORT", report);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let start = Instant::now();
    #[expect(
        clippy::zombie_processes,
        reason = "`wait4` waits for it, and tells its CPU time"
    )]
    let child = command.spawn().expect("this program starts once more");
    // SAFETY: all bytes 0 are a value of this plain structure.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let mut status = 0;
    // SAFETY: both pointers are to values that outlive the call.
    let ended = unsafe { libc::wait4(child.id() as i32, &raw mut status, 0, &raw mut usage) };
    assert!(ended > 0 && status == 0, "{form} ended with {status}");
    let wall = start.elapsed().as_secs_f64() * 1e3;
    let ms = |time: libc::timeval| time.tv_sec as f64 * 1e3 + time.tv_usec as f64 / 1e3;
    [ms(usage.ru_utime) + ms(usage.ru_stime), wall]
}

fn compare() -> ExitCode {
    let mut figures = FORMS.map(|_| [const { Vec::new() }; 2]);
    for _ in 0..RUNS {
        for ((form, report), figures) in FORMS.iter().zip(&mut figures) {
            let [cpu, wall] = run(form, report);
            figures[0].push(cpu);
            figures[1].push(wall);
        }
    }
    let medians = figures.map(|figures| figures.map(table::median));
    let title = format!("A run of ten calls, medians of {RUNS} runs in turns");
    table::heading(
        &title,
        &["probes", "report", "CPU ms", "more", "ms", "more"],
    );
    for ((form, report), [cpu, wall]) in FORMS.iter().zip(medians) {
        let [bare_cpu, bare_wall] = medians[0];
        table::row(&[
            (*form).to_owned(),
            (*report).to_owned(),
            format!("{cpu:.2}"),
            format!("{:+.2}", cpu - bare_cpu),
            format!("{wall:.2}"),
            format!("{:+.2}", wall - bare_wall),
        ]);
    }
    println!("\nMust be: at most 5 ms of CPU time and 10 ms more than the bare program.");
    let is_met = medians
        .iter()
        .all(|[cpu, wall]| cpu - medians[0][0] <= 5.0 && wall - medians[0][1] <= 10.0);
    ExitCode::from(u8::from(!is_met))
}
