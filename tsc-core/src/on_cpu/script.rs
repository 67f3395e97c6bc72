//! Simulates a thread's counter, detector and kernel, as a test specifies.
//!
//! Time passes only when the test says so, and a nanosecond is one tick.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::reading::Statistics;
use super::{kernel, rate};
use crate::process::cpu_time;
use crate::record::thread;
use crate::sync::thread_local;
use crate::tsc::{Fence, FencePolicy, Ticks};

thread_local! {
    static SCRIPT: Cell<Option<Script>> = const { Cell::new(None) };
}
thread_local! {
    static WORD: AtomicUsize = const { AtomicUsize::new(0) };
}
thread_local! {
    static ASKINGS: Cell<u32> = const { Cell::new(0) };
}
thread_local! {
    static AHEAD: Cell<i64> = const { Cell::new(0) };
}
thread_local! {
    static INTERRUPTED_BEFORE_START: Cell<bool> = const { Cell::new(false) };
}
thread_local! {
    static INTERRUPTED_AFTER_STOP: Cell<bool> = const { Cell::new(false) };
}
thread_local! {
    static INTERRUPTED_AFTER_REQUEST: Cell<bool> = const { Cell::new(false) };
}

/// Reads the simulated counter; before the simulation begins, the real one.
#[derive(Debug)]
pub(crate) struct Scripted;

impl FencePolicy for Scripted {
    const FENCE: Fence = Fence::Unfenced;

    fn start() -> Ticks {
        if INTERRUPTED_BEFORE_START.with(Cell::take) {
            lose(5_000, 0);
        }
        counter()
    }

    fn stop() -> Ticks {
        let stop = counter();
        if INTERRUPTED_AFTER_STOP.with(Cell::take) {
            lose(5_000, 0);
        }
        stop
    }
}

/// Interrupts the thread on its way back from the next request for its CPU time.
pub(crate) fn interrupt_after_next_request() {
    INTERRUPTED_AFTER_REQUEST.with(|is_interrupted| is_interrupted.set(true));
}

/// Interrupts the thread right before its next start reads the counter, after the detector was checked.
pub(crate) fn interrupt_before_next_start() {
    INTERRUPTED_BEFORE_START.with(|is_interrupted| is_interrupted.set(true));
}

/// Interrupts the thread right after its next stop has read the counter, before the detector is checked.
pub(crate) fn interrupt_after_next_stop() {
    INTERRUPTED_AFTER_STOP.with(|is_interrupted| is_interrupted.set(true));
}

#[derive(Clone, Copy, Debug)]
struct Script {
    now: Ticks,
    off: u64,
    waited: u64,
    runs: u64,
    blocks: u64,
    keeps_statistics: bool,
}

/// Makes this thread a simulated one from now on.
pub(crate) fn begin() {
    set(Script {
        now: 1 << 40,
        off: 0,
        waited: 0,
        runs: 1,
        blocks: 0,
        keeps_statistics: true,
    });
    let thread = thread::this();
    thread.detector.attach_to(WORD.with(std::ptr::from_ref));
    thread.detector.arm();
    let mut state = thread.on_cpu.0.borrow_mut();
    state.clear();
    state.last = state.read(true);
    state.blocks = blocks_of_thread();
}

/// Lets the thread run for this many ticks.
pub(crate) fn run(ticks: u64) {
    change(|script| script.now += ticks);
}

/// Takes the CPU from the thread for `off` ticks. For `waiting` of them the thread waits for a CPU.
pub(crate) fn lose(off: u64, waiting: u64) {
    WORD.with(|word| word.store(0, Relaxed));
    change(|script| {
        script.now += off;
        script.off += off;
        script.waited += waiting;
        script.runs += 1;
        script.blocks += u64::from(waiting != off);
    });
}

/// Lets a hypervisor take the CPU from the thread.
pub(crate) fn steal(off: u64) {
    lose(off, off);
    change(|script| script.waited -= off);
}

/// Interrupts the thread with a signal, which takes no time. The kernel's clock is ahead of the counter from now on.
pub(crate) fn signal() {
    WORD.with(|word| word.store(0, Relaxed));
    change(|script| {
        script.off = script
            .off
            .wrapping_sub(AHEAD.with(Cell::get).cast_unsigned())
    });
}

/// By how much each [`signal`] moves the kernel's clock.
pub(crate) fn set_ahead_after_signals(ticks: i64) {
    AHEAD.with(|ahead| ahead.set(ticks));
}

/// Lets the kernel have no statistics of waiting.
pub(crate) fn keep_no_statistics() {
    change(|script| script.keeps_statistics = false);
}

fn change(change: impl FnOnce(&mut Script)) {
    let mut script = get().expect("a test has begun the script");
    change(&mut script);
    set(script);
}

fn get() -> Option<Script> {
    SCRIPT.with(Cell::get)
}

fn set(script: Script) {
    SCRIPT.with(|own| own.set(Some(script)));
}

/// The simulated time, if this thread is simulated.
pub(crate) fn now() -> Option<Ticks> {
    get().map(|script| script.now)
}

/// How many times the scheduler's statistics were asked for.
pub(crate) fn askings() -> u32 {
    ASKINGS.with(Cell::get)
}

/// The simulated counter, or the real one.
pub(crate) fn counter() -> Ticks {
    now().unwrap_or_else(rate::now)
}

pub(super) fn ticks_per_ns() -> Option<f64> {
    get().map_or_else(rate::ticks_per_ns, |_| Some(1.0))
}

/// The simulated kernel, or the real one.
#[derive(Debug)]
pub(super) struct Kernel(kernel::Kernel);

impl Kernel {
    pub(super) const fn new() -> Self {
        Self(kernel::Kernel::new())
    }

    pub(super) fn attach(&mut self) {
        self.0.attach();
    }

    pub(super) fn detach(&mut self) {
        self.0.detach();
    }

    pub(super) fn read_clock(&mut self) -> Option<(Ticks, u64)> {
        clock().or_else(|| self.0.read_clock())
    }

    pub(super) fn read_statistics(&mut self, cpu_ns: u64) -> Option<Statistics> {
        match get() {
            Some(_) => statistics(),
            None => self.0.read_statistics(cpu_ns),
        }
    }
}

pub(super) fn blocks_of_thread() -> Option<u64> {
    match get() {
        Some(script) => Some(script.blocks),
        None => cpu_time::blocks_of_thread(),
    }
}

/// The counter and the thread's CPU clock.
fn clock() -> Option<(Ticks, u64)> {
    let script = get()?;
    if INTERRUPTED_AFTER_REQUEST.with(Cell::take) {
        lose(5_000, 5_000);
    }
    Some((script.now, script.now.wrapping_sub(script.off)))
}

/// The scheduler's statistics now.
fn statistics() -> Option<Statistics> {
    ASKINGS.with(|askings| askings.set(askings.get() + 1));
    let script = get().filter(|script| script.keeps_statistics)?;
    Some(Statistics {
        ran_ns: script.now.wrapping_sub(script.off),
        waited_ns: script.waited,
        runs: script.runs,
    })
}
