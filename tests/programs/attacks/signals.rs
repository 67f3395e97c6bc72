//! Signal handlers that interrupt the runtime's own work.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tsc_runtime::{cycles, pause, reset, resume, snapshot};

#[cycles]
#[inline(never)]
fn one(value: u64) -> u64 {
    std::hint::black_box(value + 1)
}

#[cycles]
#[inline(never)]
fn other(value: u64) -> u64 {
    std::hint::black_box(value + 2)
}

/// The handler calls `exit(0)`: in the midst of registrations, or of calls alone.
pub(crate) fn exit_in_handler(cold: bool) {
    extern "C" fn handler(_: libc::c_int) {
        // SAFETY: not allowed in a handler, strictly; programs do it.
        unsafe { libc::exit(0) };
    }
    one(0);
    other(0);
    // Another moment for each process.
    let delay = 1000 + u64::from(std::process::id()) * 37 % 2000;
    every(Duration::from_micros(delay), handler);
    loop {
        if cold {
            reset();
        }
        one(1);
        other(2);
    }
}

static HANDLED: AtomicU64 = AtomicU64::new(0);

/// The handler calls one of the functions that control the recording, or asks for the figures.
pub(crate) fn control_in_handler(control: &str) {
    extern "C" fn resets(_: libc::c_int) {
        HANDLED.fetch_add(1, Relaxed);
        reset();
    }
    extern "C" fn snaps(_: libc::c_int) {
        HANDLED.fetch_add(1, Relaxed);
        drop(snapshot());
    }
    extern "C" fn pauses(_: libc::c_int) {
        HANDLED.fetch_add(1, Relaxed);
        pause();
        resume();
    }
    let (handler, period): (extern "C" fn(libc::c_int), _) = match control {
        "reset" => (resets, 100),
        "pause" => (pauses, 100),
        "snapshot" => (snaps, 10_000),
        _ => panic!("no control is called {control}"),
    };
    one(0);
    other(0);
    every(Duration::from_micros(period), handler);
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(1) {
        reset();
        one(1);
        other(2);
        if control != "reset" {
            let report = snapshot();
            // To free it is the program's own work, which a handler that allocates must not interrupt.
            set_mask(libc::SIG_BLOCK);
            drop(report);
            set_mask(libc::SIG_UNBLOCK);
        }
    }
    stop_timer();
    reset();
    (0..100).for_each(|value| _ = one(value));
    let calls = snapshot().callsite("one").map_or(0, |row| row.calls());
    assert!(HANDLED.load(Relaxed) > 0);
    println!("{calls} calls");
}

/// A handler calls the very function that it interrupts; prints how many calls were made and how many recorded.
pub(crate) fn same_function_in_handler() {
    extern "C" fn handler(_: libc::c_int) {
        HANDLED.fetch_add(1, Relaxed);
        one(1);
    }
    one(0);
    let mut made = 1;
    every(Duration::from_micros(50), handler);
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(2) {
        (0..1000).for_each(|value| _ = one(value));
        made += 1000;
    }
    stop_timer();
    made += HANDLED.load(Relaxed);
    let calls = snapshot().callsite("one").map_or(0, |row| row.calls());
    println!("{made} made, {calls} recorded");
}

/// Blocks the signal, or lets it through.
fn set_mask(how: libc::c_int) {
    // SAFETY: all zeros is a set of signals, which is then emptied.
    unsafe {
        let mut signals = std::mem::zeroed();
        libc::sigemptyset(&raw mut signals);
        libc::sigaddset(&raw mut signals, libc::SIGUSR1);
        libc::pthread_sigmask(how, &raw const signals, std::ptr::null_mut());
    }
}

/// The signal comes so often until [`stop_timer`].
fn every(period: Duration, handler: extern "C" fn(libc::c_int)) {
    let period = libc::timespec {
        tv_sec: 0,
        tv_nsec: period.as_nanos() as libc::c_long,
    };
    let times = libc::itimerspec {
        it_interval: period,
        it_value: period,
    };
    // SAFETY: the handler is a function; all structures are valid, and TIMER lives for ever.
    unsafe {
        libc::signal(libc::SIGUSR1, handler as libc::sighandler_t);
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_SIGNAL;
        event.sigev_signo = libc::SIGUSR1;
        let mut timer = std::mem::zeroed();
        assert_eq!(
            libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer),
            0
        );
        TIMER.store(timer as u64, Relaxed);
        assert_eq!(
            libc::timer_settime(timer, 0, &raw const times, std::ptr::null_mut()),
            0
        );
    }
}

static TIMER: AtomicU64 = AtomicU64::new(0);

fn stop_timer() {
    // SAFETY: `every` has made the timer.
    unsafe { libc::timer_delete(TIMER.load(Relaxed) as libc::timer_t) };
}
