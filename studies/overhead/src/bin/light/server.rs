//! A server that works in ten equal functions for each request, and then waits for the next one.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use tsc_runtime::{Report, cycles, reset, snapshot};

use crate::{Clock, own, range, row, work};
use overhead::target::print;

/// About 5 µs.
const STEPS: u64 = 2500;
const WAIT: Duration = Duration::from_micros(300);
const TIME: Duration = Duration::from_secs(25);
const OTHERS: usize = 4;

macro_rules! parts {
    ($($name:ident)*) => {
        $(
            #[cycles(light)]
            #[inline(never)]
            fn $name() -> u64 {
                work(STEPS)
            }
        )*
        const PARTS: [&str; 10] = [$(stringify!($name)),*];

        #[cycles(light)]
        fn answer() {
            $(black_box($name());)*
        }
    };
}

parts!(part0 part1 part2 part3 part4 part5 part6 part7 part8 part9);

#[cycles(light)]
fn wait() {
    thread::sleep(WAIT);
}

pub(crate) fn run_alone() {
    serve("alone");
}

pub(crate) fn run_beside_others() {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..OTHERS {
            scope.spawn(|| {
                while !stop.load(Relaxed) {
                    black_box(work(1000));
                }
            });
        }
        serve("beside four busy threads");
        stop.store(true, Relaxed);
    });
}

fn serve(how: &str) {
    reset();
    let clock = Clock::now();
    let began = Instant::now();
    while began.elapsed() < TIME {
        answer();
        wait();
    }
    print_shares(how, &snapshot());
    clock.print(&format!("server {how}"));
}

fn print_shares(how: &str, report: &Report) {
    let parts = || PARTS.iter().map(|name| own(report, name));
    let sum: f64 = parts().sum();
    let (least, most) = range(parts().map(|own| 100.0 * own / sum));
    print(
        &format!("server {how}: each of ten equal functions"),
        "6–14 % of their sum",
        format!("{least:.1}–{most:.1} %"),
        least >= 6.0 && most <= 14.0,
    );
    let waits = 100.0 * own(report, "wait") / sum;
    print(
        &format!("server {how}: CPU time of the function that sleeps"),
        "≤ 8 % of the work's",
        format!("{waits:.1} %"),
        waits <= 8.0,
    );
    let blocked = |name: &str| row(report, name).blocked_ticks().unwrap_or(0.0);
    let all = blocked("wait") + PARTS.iter().copied().map(blocked).sum::<f64>();
    let asleep = 100.0 * blocked("wait") / all;
    print(
        &format!("server {how}: blocked time in the function that sleeps"),
        "> 90 %",
        format!("{asleep:.1} %"),
        asleep > 90.0,
    );
}
