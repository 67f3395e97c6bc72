//! A program with annotated functions of every kind, whose dump `dump.rs` reads. With the argument `light` it has light probes, too.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use tsc_runtime::cycles;

#[cycles]
fn work(seed: u64) -> u64 {
    (0..100).fold(seed, |sum, number| sum.rotate_left(1) ^ number)
}

#[cycles]
fn recursive(depth: u64) -> u64 {
    if depth == 0 {
        work(1)
    } else {
        1 + recursive(depth - 1)
    }
}

#[cycles(bytes = text.len(), fence = "rdtscp")]
fn reads(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

#[cycles(name = "a \"name\"\\ with\nbreaks")]
fn named() {
    work(2);
}

#[cycles]
async fn suspended() -> u64 {
    work(3);
    let mut polls = 0;
    std::future::poll_fn(|_| {
        polls += 1;
        if polls < 3 {
            Poll::Pending
        } else {
            Poll::Ready(polls)
        }
    })
    .await
}

#[cycles]
fn sleeps() {
    thread::sleep(Duration::from_micros(50));
}

/// Runs for so long that ticks of the clock find it.
#[cycles(light)]
fn counted() {
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(50) {
        light_work();
    }
}

#[cycles(light, items = 2)]
fn light_work() {
    work(4);
}

fn main() {
    if std::env::args().any(|argument| argument == "light") {
        counted();
    }
    for seed in 0..200 {
        work(seed);
        recursive(seed % 5);
        reads("a1b2c3");
        named();
    }
    for _ in 0..5 {
        sleeps();
        let mut future = pin!(suspended());
        let mut context = Context::from_waker(Waker::noop());
        while future.as_mut().poll(&mut context).is_pending() {}
    }
    let threads: Vec<_> = (0..4)
        .map(|seed| thread::spawn(move || work(seed)))
        .collect();
    for thread in threads {
        thread.join().expect("the thread does not panic");
    }
}
