//! Signal handlers that interrupt the runtime's own work.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tsc_runtime::{Report, cycles, pause, reset, resume, snapshot};

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

#[cycles(light)]
#[inline(never)]
fn light(value: u64) -> u64 {
    std::hint::black_box(value + 3)
}

/// The handler calls `exit(0)`. Meanwhile the program makes calls. With `cold` it also registers the callsites again and again, with `report` it
/// makes reports, and with `light` it makes the words of light probes stale.
pub(crate) fn exit_in_handler(what: &str) {
    extern "C" fn handler(_: libc::c_int) {
        // SAFETY: strictly, `exit` is not allowed in a handler, but programs do call it there.
        unsafe { libc::exit(0) };
    }
    one(0);
    other(0);
    // Each process uses a different delay.
    let delay = 1000 + u64::from(std::process::id()) * 37 % 2000;
    let timer = Timer::new(handler);
    timer.start(Duration::from_micros(delay));
    loop {
        match what {
            "cold" => reset(),
            "report" => drop_undisturbed(snapshot()),
            "light" => {
                pause();
                resume();
                light(0);
            }
            _ => {}
        }
        one(1);
        other(2);
    }
}

static HANDLED: AtomicU64 = AtomicU64::new(0);
/// Whether the timer was set and the signal has not arrived yet.
static EXPECTED: AtomicBool = AtomicBool::new(false);

fn handled() {
    HANDLED.fetch_add(1, Relaxed);
    EXPECTED.store(false, Relaxed);
}

/// The handler calls one of the functions that control the recording, or asks for the figures.
pub(crate) fn control_in_handler(control: &str) {
    extern "C" fn resets(_: libc::c_int) {
        handled();
        reset();
    }
    extern "C" fn snaps(_: libc::c_int) {
        handled();
        drop(snapshot());
    }
    extern "C" fn pauses(_: libc::c_int) {
        handled();
        pause();
        resume();
    }
    let (handler, longest): (extern "C" fn(libc::c_int), _) = match control {
        "reset" => (resets, 200),
        "pause" => (pauses, 200),
        "snapshot" => (snaps, 20_000),
        _ => panic!("no control is called {control}"),
    };
    one(0);
    other(0);
    let timer = Timer::new(handler);
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(1) {
        timer.expect_within(Duration::from_micros(longest));
        reset();
        one(1);
        other(2);
        if control != "reset" {
            drop_undisturbed(snapshot());
        }
    }
    drop(timer);
    reset();
    (0..100).for_each(|value| _ = one(value));
    let calls = snapshot().callsite("one").map_or(0, |row| row.calls());
    assert!(HANDLED.load(Relaxed) > 0);
    println!("{calls} calls");
}

/// A handler calls the function that it interrupts. Prints how many calls were made and how many were recorded.
pub(crate) fn same_function_in_handler() {
    extern "C" fn handler(_: libc::c_int) {
        handled();
        one(1);
    }
    one(0);
    let mut made = 1;
    let timer = Timer::new(handler);
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(2) {
        timer.expect_within(Duration::from_micros(100));
        (0..1000).for_each(|value| _ = one(value));
        made += 1000;
    }
    drop(timer);
    made += HANDLED.load(Relaxed);
    print_recorded("one", made);
}

/// A handler calls a light function on the stack that std has made for handlers, for a second.
pub(crate) fn light_on_signal_stack() {
    extern "C" fn handler(_: libc::c_int) {
        light(1);
    }
    light(0);
    // SAFETY: all zeros are a disposition with an empty mask, and the handler is a function.
    unsafe {
        let mut disposition: libc::sigaction = std::mem::zeroed();
        disposition.sa_sigaction = handler as *const () as libc::sighandler_t;
        disposition.sa_flags = libc::SA_ONSTACK;
        libc::sigaction(libc::SIGUSR1, &raw const disposition, std::ptr::null_mut());
    }
    let (began, mut made) = (Instant::now(), 1);
    while began.elapsed() < Duration::from_secs(1) {
        // SAFETY: the signal has a handler.
        unsafe { libc::raise(libc::SIGUSR1) };
        made += 1;
    }
    print_recorded("light", made);
}

fn print_recorded(name: &str, made: u64) {
    let calls = snapshot().callsite(name).map_or(0, |row| row.calls());
    println!("{made} made, {calls} recorded");
}

/// Freeing the report is done by the program itself, and a handler that allocates must not interrupt it.
fn drop_undisturbed(report: Report) {
    set_mask(libc::SIG_BLOCK);
    drop(report);
    set_mask(libc::SIG_UNBLOCK);
}

/// Blocks or unblocks the signal.
fn set_mask(how: libc::c_int) {
    // SAFETY: all zeros is a set of signals, which is then emptied.
    unsafe {
        let mut signals = std::mem::zeroed();
        libc::sigemptyset(&raw mut signals);
        libc::sigaddset(&raw mut signals, libc::SIGUSR1);
        libc::pthread_sigmask(how, &raw const signals, std::ptr::null_mut());
    }
}

/// Sends the process a signal once at a time. It is not periodic, because on a slow machine the handler may take longer than a period, and
/// then nothing else would run.
struct Timer(libc::timer_t);

impl Timer {
    fn new(handler: extern "C" fn(libc::c_int)) -> Self {
        // SAFETY: the handler is a function; all structures are valid.
        unsafe {
            libc::signal(libc::SIGUSR1, handler as libc::sighandler_t);
            let mut event: libc::sigevent = std::mem::zeroed();
            event.sigev_notify = libc::SIGEV_SIGNAL;
            event.sigev_signo = libc::SIGUSR1;
            let mut timer = std::mem::zeroed();
            let result = libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer);
            assert_eq!(result, 0);
            Self(timer)
        }
    }

    /// Sends the signal once, after `delay`.
    fn start(&self, delay: Duration) {
        let delay = libc::timespec {
            tv_sec: 0,
            tv_nsec: delay.as_nanos() as libc::c_long,
        };
        let once = libc::itimerspec {
            it_interval: libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: delay,
        };
        // SAFETY: `new` has made the timer; the structure is valid.
        let result =
            unsafe { libc::timer_settime(self.0, 0, &raw const once, std::ptr::null_mut()) };
        assert_eq!(result, 0);
    }

    /// Sends the signal once, after a different delay each time, unless the previous signal has not arrived yet.
    fn expect_within(&self, longest: Duration) {
        if !EXPECTED.swap(true, Relaxed) {
            let nth = HANDLED.load(Relaxed) as u32;
            self.start(longest * (1 + nth.wrapping_mul(37) % 100) / 100);
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: `new` has made the timer, which nothing uses after this.
        unsafe { libc::timer_delete(self.0) };
    }
}
