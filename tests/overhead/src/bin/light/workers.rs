//! Threads with a function of milliseconds, one that sleeps, and two of nanoseconds: the shares when the threads are more than the CPUs, and when
//! one is alone.

use std::hint::black_box;
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

#[cycles(light)]
fn worker(rounds: u32) {
    for round in 0..rounds {
        black_box(long());
        for _ in 0..200_000 {
            black_box(short());
        }
        for _ in 0..200_000 {
            black_box(triple());
        }
        if round % 4 == 0 {
            nap();
        }
    }
}

pub(crate) fn run() {
    let alone = report_of(1, ROUNDS);
    let clock = Clock::now();
    let together = report_of(THREADS, ROUNDS);
    let share = |report: &Report, name: &str| {
        own(report, name) / NAMES.map(|name| own(report, name)).iter().sum::<f64>()
    };
    let ratios = || NAMES.map(|name| share(&together, name) / share(&alone, name));
    let (least, most) = range(ratios().into_iter());
    print(
        "shares of three functions on four threads ÷ on one",
        "0.85–1.15",
        format!("{least:.2}–{most:.2}"),
        least >= 0.85 && most <= 1.15,
    );
    let naps = 100.0 * own(&together, "nap") / own(&together, "long");
    print(
        "CPU time of a function that sleeps, four threads",
        "≤ 1 % of the longest one's",
        format!("{naps:.2} %"),
        naps <= 1.0,
    );
    clock.print("four threads");
}

fn report_of(threads: usize, rounds: u32) -> Report {
    reset();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| worker(rounds));
        }
    });
    snapshot()
}
