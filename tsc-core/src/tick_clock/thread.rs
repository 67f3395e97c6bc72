//! The clock's thread.
//!
//! It starts with the first callsite of a light probe, and never ends. It has a small stack and a name, and blocks all signals, so that the
//! program's handlers do not run on it.
//!
//! On x86-64 Linux libc does not know of it: see [`unknown`](system). So it may call nothing that uses thread-local storage, such as
//! allocators and locks that wait, and it must not panic.

use std::io;
use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::time::Duration;

use once_cell::race::OnceBox;

use super::EPOCH;
use crate::environment;
use crate::process::PerProcess;
use crate::random::Random;
use crate::tsc::clock;

mod idleness;
mod pace;
#[cfg(target_os = "linux")]
mod slice;
#[cfg_attr(
    all(target_os = "linux", target_arch = "x86_64"),
    path = "thread/unknown.rs"
)]
#[cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    path = "thread/known.rs"
)]
mod system;

use idleness::Idleness;
use pace::SoFar;

/// The thread's functions need some kilobytes.
const STACK: usize = 64 * 1024;
/// The thread asks for its own CPU time so rarely, because the answer takes up to a third of what a wake-up takes without it.
const ASKS_EVERY: u64 = 8;
/// What a wake-up takes as long as that is not known, in nanoseconds: 10 to 30 µs in virtual machines, the more the busier the host.
const WAKE_UP_NS: u64 = 26_000;
/// More than that is the step in which some systems count CPU time.
const LONGEST_WAKE_UP_NS: u64 = 100_000;
/// What a light call costs is measured again after so many ticks, and each time later by a quarter of those so far.
const MEASURES_AFTER: u64 = 64;

static BEGUN: AtomicBool = AtomicBool::new(false);
/// The interval that the user has chosen, in nanoseconds. 0 if none.
static FIXED: AtomicU64 = AtomicU64::new(0);
/// 1 while the thread sleeps for longer than usual, because the process was idle; otherwise 0.
static SLOW: AtomicU32 = AtomicU32::new(0);
/// The thread's CPU time when it last asked, in nanoseconds.
static COST: AtomicU64 = AtomicU64::new(0);
/// The mean CPU time of going to sleep and waking up.
static WAKE_UP: AtomicU64 = AtomicU64::new(WAKE_UP_NS);
/// How long the thread has existed, likewise.
static AGE: AtomicU64 = AtomicU64::new(0);
/// Those two, and the number of ticks, when the process began or the figures were reset.
static SINCE: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];
/// How many ticks the threads have noticed, and how many of these have given CPU time to a function. Each thread counts its own.
static NOTICED: AtomicU64 = AtomicU64::new(0);
static GIVEN: AtomicU64 = AtomicU64::new(0);
/// Whether a thread is to measure what a light call costs.
static MEASUREMENT_DUE: AtomicBool = AtomicBool::new(false);
static REFUSED: PerProcess<OnceBox<String>> = PerProcess::new();

/// Starts the clock, unless it runs.
pub(crate) fn begin() {
    if BEGUN.load(Relaxed) || BEGUN.swap(true, Relaxed) {
        return;
    }
    if let Err(error) = spawn() {
        REFUSED
            .get()
            .get_or_init(|| Box::new(format!("no thread could be started for its clock: {error}")));
    }
}

/// In the child of a fork, where the thread does not exist. The next light callsite that is called starts another one.
#[cfg(unix)]
pub(crate) fn start_from_zero() {
    BEGUN.store(false, Relaxed);
    REFUSED.forget();
    SLOW.store(0, Relaxed);
    system::start_from_zero();
    for count in [&COST, &AGE, &NOTICED, &GIVEN] {
        count.store(0, Relaxed);
    }
    begin_anew();
}

fn spawn() -> io::Result<()> {
    let fixed = environment::tick();
    FIXED.store(fixed.map_or(0, |time| time.as_nanos() as u64), Relaxed);
    system::spawn(run)
}

/// Why there is no clock, if it could not be started.
pub(crate) fn unavailable() -> Option<&'static str> {
    REFUSED.get_if_made()?.get().map(String::as_str)
}

/// A thread has noticed so many `ticks` since the last time, or has been off the CPU. If the clock is slow, this wakes it up.
pub(crate) fn note_noticed(ticks: u64) {
    NOTICED.fetch_add(ticks, Relaxed);
    if SLOW.load(Acquire) != 0 && SLOW.swap(0, Relaxed) != 0 {
        system::wake(&SLOW);
    }
}

/// So many of the ticks that a thread has noticed have given CPU time to a function.
pub(crate) fn note_given(ticks: u64) {
    GIVEN.fetch_add(ticks, Relaxed);
}

/// Whether it is time to measure what a light call costs. The thread that asks does it then: the next time is later.
#[cfg(not(test))]
pub(crate) fn is_measurement_due() -> bool {
    MEASUREMENT_DUE.load(Relaxed) && MEASUREMENT_DUE.swap(false, Relaxed)
}

/// What the clock has done since it began or since the last reset: its ticks, the time, and the CPU time that it took, both in nanoseconds.
pub(crate) fn so_far() -> [u64; 3] {
    let mut so_far = totals();
    for (total, since) in so_far.iter_mut().zip(&SINCE) {
        *total = total.saturating_sub(since.load(Relaxed));
    }
    so_far
}

/// The CPU time that the clock's thread takes to go to sleep and to wake up on this machine, in microseconds.
#[cfg(not(test))]
pub(crate) fn wake_up_us() -> f64 {
    WAKE_UP.load(Relaxed) as f64 / 1000.0
}

/// The figures were reset.
pub(crate) fn begin_anew() {
    for (since, total) in SINCE.iter().zip(totals()) {
        since.store(total, Relaxed);
    }
}

fn totals() -> [u64; 3] {
    [EPOCH.last(), AGE.load(Relaxed), COST.load(Relaxed)]
}

extern "C" fn run() -> ! {
    #[cfg(target_os = "linux")]
    slice::shorten();
    let fixed = Some(Duration::from_nanos(FIXED.load(Relaxed))).filter(|time| !time.is_zero());
    let began = system::now();
    let mut random = Random::new(clock::now() | 1);
    let mut idleness = Idleness::default();
    let mut slowed: Option<Duration> = None;
    let mut so_far = SoFar::NOTHING;
    let mut wake_ups = 0_u64;
    let mut due = MEASURES_AFTER;
    loop {
        so_far.elapsed = system::now().saturating_sub(began);
        so_far.useful = useful(wake_ups);
        if wake_ups.is_multiple_of(ASKS_EVERY) {
            so_far.cost = system::own_cpu_time().unwrap_or_default();
            so_far.wake_ups = wake_ups;
            COST.store(so_far.cost.as_nanos() as u64, Relaxed);
            if let Some(of_one) = so_far.cost_of_wake_up() {
                let ns = of_one.as_nanos() as u64;
                WAKE_UP.store(ns.min(LONGEST_WAKE_UP_NS), Relaxed);
            }
        }
        AGE.store(so_far.elapsed.as_nanos() as u64, Relaxed);
        let usual = fixed.unwrap_or_else(|| pace::mean(so_far));
        let interval = around(slowed.unwrap_or(usual), &mut random);
        wake_ups += 1;
        if slowed.is_none() {
            system::sleep(interval);
        } else if is_woken(interval) {
            // A tick now would follow the thread that has just woken up, and not come at random.
            slowed = None;
            continue;
        }
        let noticed = NOTICED.load(Relaxed);
        let is_idle = idleness.is_idle(noticed, interval, cpu_time_of_others);
        slowed = is_idle.then(|| pace::slower(slowed.unwrap_or(usual)));
        if wake_ups > due {
            due = wake_ups + MEASURES_AFTER + wake_ups / 4;
            MEASUREMENT_DUE.store(true, Relaxed);
        }
        EPOCH.advance(clock::now());
    }
}

/// The process's CPU time, without that of this thread.
fn cpu_time_of_others() -> Option<Duration> {
    let (process, own) = system::cpu_time_of_process().zip(system::own_cpu_time())?;
    Some(process.saturating_sub(own))
}

/// The part of the clock's ticks that have given CPU time to a function, as far as threads have noticed them.
fn useful(ticks: u64) -> f64 {
    let noticed = NOTICED.load(Relaxed).min(ticks);
    let given = GIVEN.load(Relaxed);
    if given < noticed {
        given as f64 / noticed as f64
    } else {
        1.0
    }
}

/// Sleeps for this time, or until a thread notices that the clock has ticked or that it was off the CPU. Returns whether one has.
fn is_woken(time: Duration) -> bool {
    SLOW.store(1, Release);
    system::wait(&SLOW, time);
    SLOW.swap(0, Relaxed) == 0
}

/// A time from a half to three halves of `mean`.
fn around(mean: Duration, random: &mut Random) -> Duration {
    let mean = (mean.as_nanos() as u64).max(2);
    Duration::from_nanos(mean / 2 + random.next() % mean)
}
