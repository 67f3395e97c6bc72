//! Threads with a function of milliseconds, one that sleeps, and two of nanoseconds: the shares when the threads are more than the CPUs, and when
//! one is alone.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use tsc_runtime::{Report, cycles, reset, snapshot};

use crate::target::print;
use crate::{Clock, own, range, work};

const THREADS: usize = 4;
const ROUNDS: u32 = 150;
const NAMES: [&str; 3] = ["long", "short", "triple"];

#[cycles(light)]
#[inline(never)]
fn long() -> u64 {
    work(3_000_000)
}

#[cycles(light)]
#[inline(never)]
fn short() -> u64 {
    work(6)
}

#[cycles(light)]
#[inline(never)]
fn triple() -> u64 {
    work(18)
}

#[cycles(light)]
fn nap() {
    thread::sleep(Duration::from_millis(2));
}

/// The CPU time of each function and the loop around it, in ns, by the clock of the threads.
#[derive(Default)]
struct Truth([AtomicU64; 3]);

impl Truth {
    /// Runs `body`, which belongs to the function of this number.
    fn count(&self, number: usize, body: impl FnOnce()) {
        let before = thread_ns();
        body();
        self.0[number].fetch_add(thread_ns() - before, Relaxed);
    }

    fn shares(&self) -> [f64; 3] {
        shares(self.0.each_ref().map(|ns| ns.load(Relaxed) as f64))
    }
}

#[cycles(light)]
fn worker(truth: &Truth) {
    for round in 0..ROUNDS {
        truth.count(0, || _ = black_box(long()));
        truth.count(1, || (0..200_000).for_each(|_| _ = black_box(short())));
        truth.count(2, || (0..200_000).for_each(|_| _ = black_box(triple())));
        if round % 4 == 0 {
            nap();
        }
    }
}

pub(crate) fn run() {
    let alone = changes(1).0;
    let clock = Clock::now();
    let (together, report) = changes(THREADS);
    let (least, most) = range((0..3).map(|number| together[number] / alone[number]));
    print(
        "shares of three functions on four threads ÷ on one, against the threads' CPU clocks",
        "0.85–1.15",
        format!("{least:.2}–{most:.2}"),
        least >= 0.85 && most <= 1.15,
    );
    let naps = 100.0 * own(&report, "nap") / own(&report, "long");
    print(
        "CPU time of a function that sleeps, four threads",
        "≤ 1 % of the longest one's",
        format!("{naps:.2} %"),
        naps <= 1.0,
    );
    clock.print("four threads");
}

/// The shares by light probes ÷ those by the threads' CPU clocks. The loops' own time is in these alone, and so it is in both numbers of threads.
fn changes(threads: usize) -> ([f64; 3], Report) {
    reset();
    let truth = Truth::default();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| worker(&truth));
        }
    });
    let report = snapshot();
    let (light, truth) = (shares(NAMES.map(|name| own(&report, name))), truth.shares());
    (
        std::array::from_fn(|number| light[number] / truth[number]),
        report,
    )
}

fn shares(of: [f64; 3]) -> [f64; 3] {
    of.map(|one| one / of.iter().sum::<f64>())
}

/// The CPU time of this thread.
#[cfg(target_os = "linux")]
fn thread_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the time may be written.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The time that has passed, which is the same while every thread has a CPU.
#[cfg(not(target_os = "linux"))]
fn thread_ns() -> u64 {
    static BEGIN: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    BEGIN.elapsed().as_nanos() as u64
}
