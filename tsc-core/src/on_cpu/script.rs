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
    static AHEAD: Cell<i64> = const { Cell::new(0) };
}

/// Reads the simulated counter; before the simulation begins, the real one.
#[derive(Debug)]
pub(crate) struct Scripted;

impl FencePolicy for Scripted {
    const FENCE: Fence = Fence::Unfenced;

    fn start() -> Ticks {
        lose_if(Moment::BeforeStart, 0);
        counter()
    }

    fn stop() -> Ticks {
        let stop = counter();
        lose_if(Moment::AfterStop, 0);
        stop
    }
}

/// When the thread may be interrupted, beside any time between its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Right before a start reads the counter, after the detector was checked.
    BeforeStart,
    /// Right after a stop has read the counter, before the detector is checked.
    AfterStop,
    /// On the way back from a request for the thread's CPU time.
    AfterRequest,
}

/// Interrupts the thread at the next such moment.
pub(crate) fn interrupt_at(moment: Moment) {
    change(|script| script.interrupted_at = Some(moment));
}

/// Interrupts the thread if this is the moment.
fn lose_if(moment: Moment, waiting: u64) {
    if get().is_some_and(|script| script.interrupted_at == Some(moment)) {
        change(|script| script.interrupted_at = None);
        lose(5_000, waiting);
    }
}

#[derive(Clone, Copy, Debug)]
struct Script {
    now: Ticks,
    off: u64,
    waited: u64,
    runs: u64,
    blocks: u64,
    keeps_statistics: bool,
    interrupted_at: Option<Moment>,
    /// How many times the scheduler's statistics were asked for.
    askings: u32,
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
        interrupted_at: None,
        askings: 0,
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
    let ahead = AHEAD.with(Cell::get).cast_unsigned();
    change(|script| script.off = script.off.wrapping_sub(ahead));
}

/// By how much each [`signal`] moves the kernel's clock, also if the simulation begins anew.
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
    get().map_or(0, |script| script.askings)
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
    lose_if(Moment::AfterRequest, 5_000);
    Some((script.now, script.now.wrapping_sub(script.off)))
}

/// The scheduler's statistics now.
fn statistics() -> Option<Statistics> {
    change(|script| script.askings += 1);
    let script = get().filter(|script| script.keeps_statistics)?;
    Some(Statistics {
        ran_ns: script.now.wrapping_sub(script.off),
        waited_ns: script.waited,
        runs: script.runs,
    })
}
