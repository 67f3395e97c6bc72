//! Light calls on threads while others make reports and control the recording. The sanitizers run this, too.

use std::hint::black_box;
use std::panic::{catch_unwind, panic_any, set_hook, take_hook};
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Release},
};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tsc_runtime::{Report, cycles, pause, reset, resume, snapshot, take};

/// The tests control the same recording.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    static SILENCED: Once = Once::new();
    SILENCED.call_once(silence_planned_panics);
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Those of [`panics`] print nothing.
fn silence_planned_panics() {
    let print = take_hook();
    set_hook(Box::new(move |panic| {
        if !panic.payload().is::<()>() {
            print(panic);
        }
    }));
}

/// A callsite for each number, so that the rows of every thread grow while it calls.
#[cycles(light, per_type)]
fn numbered<const NUMBER: usize>() {
    black_box(NUMBER);
}

#[cycles(light)]
fn recursive(depth: u64) -> u64 {
    match depth {
        0 => leaf(depth),
        _ => recursive(depth - 1) + leaf(depth),
    }
}

#[cycles(light)]
fn leaf(value: u64) -> u64 {
    black_box((0..value).fold(0, u64::wrapping_add))
}

#[cycles(light)]
fn panics() {
    panic_any(());
}

macro_rules! call_all {
    ($($number:literal)*) => { $(numbered::<$number>();)* };
}

/// One call of each, 100 of them of `leaf`.
fn call_in_many_places() {
    call_all!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19);
    recursive(99);
    assert!(catch_unwind(panics).is_err());
    call_all!(20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39);
}

fn leaves(report: &Report) -> u64 {
    report.callsite("leaf").map_or(0, |row| row.calls())
}

/// One of the running threads, until its end, which may be a panic.
struct Leaver<'a>(&'a AtomicU64);

impl Drop for Leaver<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Release);
    }
}

/// Runs `meanwhile` as long as threads call, and some threads begin and end. Returns how often `leaf` was called.
fn call_on_threads(meanwhile: &mut dyn FnMut()) -> u64 {
    const THREADS: usize = 3;
    let running = AtomicU64::new(THREADS as u64);
    let began = Instant::now();
    thread::scope(|scope| {
        let threads = [(); THREADS].map(|()| {
            scope.spawn(|| {
                let _leaver = Leaver(&running);
                let mut calls = 0;
                while began.elapsed() < Duration::from_millis(300) {
                    call_in_many_places();
                    thread::spawn(call_in_many_places).join().unwrap();
                    calls += 200;
                }
                calls
            })
        });
        while running.load(Acquire) != 0 {
            meanwhile();
        }
        threads.map(|thread| thread.join().unwrap()).iter().sum()
    })
}

#[test]
fn every_call_is_in_one_of_the_reports() {
    let _turn = turn();
    reset();
    let mut taken = 0;
    let made = call_on_threads(&mut || {
        let read = leaves(&snapshot());
        let now = take();
        assert!(read <= leaves(&now));
        taken += leaves(&now);
        for row in now.callsites() {
            assert!(row.self_ticks() >= 0.0, "{row:?}");
        }
    });
    assert_eq!(taken + leaves(&take()), made);
}

#[test]
fn controls_may_come_at_any_time() {
    let _turn = turn();
    reset();
    let mut read = 0;
    let made = call_on_threads(&mut || {
        pause();
        read += leaves(&snapshot());
        resume();
        reset();
    });
    // What was made between a report and the reset after it is in none of them, and nothing is in two.
    let read = read + leaves(&snapshot());
    assert!(0 < read && read <= made, "{read} of {made}");
    reset();
    call_in_many_places();
    assert_eq!(leaves(&snapshot()), 100);
}
