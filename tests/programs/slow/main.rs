//! Serves 200 000 requests, of which four sleep for 3 ms and four compute for 6 ms. With the argument `busy`, four other threads compute on
//! the same CPU. With the argument `lightly`, it prints the paths of some calls. With the argument `take`, it makes three slow calls instead, each slower than the next, and takes a report after each.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use tsc_runtime::{CallsiteReport, Report, SlowCall, affinity, cycles};

const REQUESTS: u32 = 200_000;
/// The planted requests: the first four sleep, the others compute.
const SLOW: [u32; 8] = [
    10_007, 60_013, 110_017, 160_019, 30_011, 80_021, 130_027, 190_027,
];

static DONE: AtomicBool = AtomicBool::new(false);

#[cycles(name = "serve")]
fn serve() {
    for number in 0..REQUESTS {
        if SLOW.contains(&number) {
            // What a hypervisor takes is found at the next interruption. Now it is found before the call, which would lose it otherwise.
            thread::sleep(Duration::from_micros(100));
        }
        black_box(request(number));
    }
}

#[cycles(name = "request", record = number)]
fn request(number: u32) -> u32 {
    match SLOW.iter().position(|&slow| slow == number) {
        Some(0..4) => sleep(),
        Some(_) => compute(),
        None => {}
    }
    (0..200).fold(number, |sum, n| black_box(sum.wrapping_mul(31) ^ n))
}

#[cycles(name = "planted sleep")]
fn sleep() {
    thread::sleep(Duration::from_millis(3));
}

/// Uses 6 ms of CPU time, however long that takes.
fn compute() {
    let until = cpu_time() + Duration::from_millis(6);
    while cpu_time() < until {}
}

/// That of the tests' library is not used, because this program is also built outside of the workspace, for its timeline.
#[cfg(unix)]
fn cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a variable.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(failed, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
fn cpu_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

#[cycles(name = "sleep for", record = milliseconds)]
fn sleep_for(milliseconds: u64) {
    thread::sleep(Duration::from_millis(milliseconds));
}

/// Prints the values of the slow calls in each report.
fn take() {
    for milliseconds in [90, 30, 10] {
        sleep_for(milliseconds);
        let report = tsc_runtime::take();
        let calls = report.callsite("sleep for").map(CallsiteReport::slowest);
        let values: Vec<String> = calls
            .unwrap_or_default()
            .iter()
            .map(|call| call.value().map(ToString::to_string).unwrap_or_default())
            .collect();
        println!("{}", values.join(" "));
    }
}

/// In a program with light probes, the callers are known before they return.
#[cycles(light)]
fn route(milliseconds: u64) {
    sleep_for(milliseconds);
}

/// Prints the path of a call whose callers still run.
#[cycles(name = "around a report")]
fn lightly() {
    route(20);
    (0..3).for_each(|_| sleep_for(30));
    let path = |call: &SlowCall, report: &Report| {
        let names = call
            .path()
            .iter()
            .map(|&at| report.callsites()[at as usize].name());
        names.collect::<Vec<_>>().join(" < ")
    };
    let report = tsc_runtime::snapshot();
    let calls = report.callsite("sleep for").map(CallsiteReport::slowest);
    for call in calls.unwrap_or_default() {
        println!("{}", path(call, &report));
    }
}

fn main() {
    if std::env::args().any(|argument| argument == "lightly") {
        route(1);
        return lightly();
    }
    if std::env::args().any(|argument| argument == "take") {
        return take();
    }
    let others = if std::env::args().any(|argument| argument == "busy") {
        4
    } else {
        0
    };
    // Threads inherit the CPU of the one that starts them.
    let cpus = affinity::cpus().unwrap_or_default();
    let _pinned = cpus
        .last()
        .filter(|_| others != 0)
        .map(|&cpu| affinity::pin(cpu));
    thread::scope(|scope| {
        for _ in 0..others {
            scope.spawn(|| {
                while !DONE.load(Relaxed) {
                    spin_loop()
                }
            });
        }
        let server = thread::Builder::new().name("server".to_owned());
        server
            .spawn_scoped(scope, || {
                serve();
                DONE.store(true, Relaxed);
            })
            .expect("a thread can be started");
    });
}
