//! Threads with a function of milliseconds, one that sleeps, and two of nanoseconds: the shares when the threads are more than the CPUs, and when
//! one is alone.

use std::hint::black_box;
use std::thread;
use std::time::Duration;

use tsc_runtime::{Report, cycles, reset, snapshot};

use crate::{Clock, own, range, work_on};
use overhead::target::print;

const THREADS: usize = 4;
const ROUNDS: u32 = 150;
const NAMES: [&str; 3] = ["long", "short", "triple"];

#[cycles(light)]
#[inline(never)]
fn long(value: u64) -> u64 {
    work_on(value, 3_000_000)
}

#[cycles(light)]
#[inline(never)]
fn short(value: u64) -> u64 {
    work_on(value, 6)
}

#[cycles(light)]
#[inline(never)]
fn triple(value: u64) -> u64 {
    work_on(value, 18)
}

#[cycles(light)]
fn nap() {
    thread::sleep(Duration::from_millis(2));
}

#[cycles(light)]
fn worker() {
    // Each call needs the result of the one before. Otherwise several of them would run at once, and no clock could tell them apart.
    let mut value = 1;
    for round in 0..ROUNDS {
        value = long(value);
        value = (0..200_000).fold(value, |value, _| short(value));
        value = (0..200_000).fold(value, |value, _| triple(value));
        if round % 4 == 0 {
            nap();
        }
    }
    black_box(value);
}

pub(crate) fn run() {
    let alone = shares(&measure(1));
    let report = measure(THREADS);
    let together = shares(&report);
    let (least, most) = range((0..3).map(|number| together[number] / alone[number]));
    print(
        "shares of three functions on four threads ÷ on one",
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
    // The figures were reset before these threads.
    Clock { age: 0, cost: 0 }.print("four threads");
}

fn measure(threads: usize) -> Report {
    reset();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(worker);
        }
    });
    snapshot()
}

fn shares(report: &Report) -> [f64; 3] {
    let own = NAMES.map(|name| own(report, name));
    own.map(|one| one / own.iter().sum::<f64>())
}
