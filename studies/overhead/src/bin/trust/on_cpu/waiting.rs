//! A function that is ready to run, but does not get its CPU.

use std::fs;
use std::hint::black_box;
use std::time::Duration;

use tsc_runtime::cycles;

use super::work::{beside, steps_in, work};
use super::{row, ticks_per_second};
use overhead::target;

#[cycles(name = "trust: starves")]
#[inline(never)]
fn starves(steps: u64) -> u64 {
    work(steps)
}

/// The thread is also preempted between its calls. This time is included here.
#[cycles(name = "trust: calls one that starves")]
#[inline(never)]
fn all(steps: u64) {
    (0..100).for_each(|_| _ = black_box(starves(black_box(steps))));
}

pub(super) fn run(cpu: usize) {
    let steps = steps_in(Duration::from_millis(5));
    let waited = beside(3, cpu, || {
        // The first calls register the callsites.
        all(1);
        let before = waited_ns();
        all(steps);
        waited_ns()
            .zip(before)
            .map(|(after, before)| after - before)
    });
    let waiting = row("trust: calls one that starves").and_then(|row| row.waiting_ticks());
    let (Some(waited), Some(waiting)) = (waited, waiting) else {
        return target::print("waiting", "", "not known here".to_owned(), false);
    };
    let ratio = waiting / ticks_per_second() / (waited as f64 / 1e9);
    target::print(
        "ready beside 3 busy threads: waiting ÷ the kernel's own count for the thread over the run",
        "0.97–1.03",
        format!("{ratio:.4}"),
        (0.97..=1.03).contains(&ratio),
    );
}

/// How long this thread has been ready without running.
fn waited_ns() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}
