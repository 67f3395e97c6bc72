//! Two threads that compete for a CPU: are the preempted calls marked as interrupted, and are the others undisturbed?

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use tsc_runtime::tsc::{FencePolicy, Lfence, Unfenced, elapsed};
use tsc_runtime::{CallsiteReport, affinity, cycles, snapshot};

use overhead::kernel::{involuntary_switches, pin};
use overhead::table::{median, quartiles};
use overhead::target;

const ROUNDS: usize = 7;

pub(crate) fn run(cpu: usize) {
    flagged_calls(cpu);
    quantiles(cpu);
}

/// The length of a call: far longer than the time between two calls, and far shorter than a time slice.
const BUSY_NS: f64 = 60_000.0;
/// The number of preemptions of each thread in each round.
const SWITCHES: i64 = 100;

#[cycles(name = "trust: busy")]
#[inline(never)]
fn busy(ticks: u64) {
    let start = Unfenced::start();
    while Unfenced::start().wrapping_sub(start) < ticks {}
}

fn flagged_calls(cpu: usize) {
    let ticks = (BUSY_NS * ticks_per_ns()) as u64;
    let fight = || {
        pin(cpu);
        // The first call is recorded separately.
        busy(ticks);
        let before = involuntary_switches();
        while involuntary_switches() - before < SWITCHES {
            (0..100).for_each(|_| busy(ticks));
        }
        involuntary_switches() - before
    };
    let flagged = || {
        snapshot()
            .callsite("trust: busy")
            .and_then(CallsiteReport::interrupted)
            .unwrap_or(0)
    };
    let (mut all_flagged, mut all_switches, mut ratios) = (0, 0, Vec::new());
    for _ in 0..ROUNDS {
        let before = flagged();
        let switches: i64 = thread::scope(|scope| {
            let fighters = [scope.spawn(fight), scope.spawn(fight)];
            fighters
                .map(|fighter| fighter.join().unwrap_or(0))
                .iter()
                .sum()
        });
        let calls = flagged() - before;
        all_flagged += calls;
        all_switches += switches;
        ratios.push(calls as f64 / switches as f64);
    }
    let ratio = all_flagged as f64 / all_switches as f64;
    let [low, middle, high] = quartiles(ratios);
    target::print(
        "two threads on one CPU, calls of 60 µs: calls flagged ÷ the threads' nivcsw",
        "0.95–1.05",
        format!(
            "{all_flagged} ÷ {all_switches} = {ratio:.3}; of {ROUNDS} rounds {middle:.3} ({low:.3}–{high:.3})"
        ),
        (ratio - 1.0).abs() <= 0.05,
    );
}

/// The number of calls of the short function in each half of a round.
const CALLS: usize = 100_000;
const SHORT_NS: f64 = 3_000.0;

/// The same amount of work at every call. If the call ended at a certain time instead, a preemption would not make it longer.
#[cycles(name = "trust: 3 µs")]
#[inline(never)]
fn short(length: u32) {
    black_box((0..length).fold(black_box(3_u64), |value, _| {
        black_box(value.wrapping_mul(value))
    }));
}

/// The p99 of clean calls in the report, and the p99.9 of all calls, measured around them.
struct Quantiles {
    clean_p99: f64,
    all_p999: f64,
}

impl Quantiles {
    fn take(length: u32) -> Self {
        tsc_runtime::reset();
        // The first call is recorded separately.
        short(length);
        let mut all: Vec<i64> = (0..CALLS)
            .map(|_| {
                let start = Lfence::start();
                short(length);
                elapsed(start, Lfence::stop())
            })
            .collect();
        all.sort_unstable();
        Self {
            clean_p99: snapshot()
                .callsite("trust: 3 µs")
                .and_then(CallsiteReport::p99_ticks)
                .unwrap_or(f64::NAN),
            all_p999: all[CALLS * 999 / 1000] as f64,
        }
    }

    /// While other threads keep the same CPU busy: in bursts, so that they take the CPU away more often than once a time slice.
    fn take_contended(length: u32, cpu: usize) -> Self {
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..COMPETITORS {
                scope.spawn(|| {
                    pin(cpu);
                    let burst = (BURST_NS * ticks_per_ns()) as u64;
                    while !done.load(Relaxed) {
                        busy(burst);
                        thread::sleep(PAUSE);
                    }
                });
            }
            let quantiles = Self::take(length);
            done.store(true, Relaxed);
            quantiles
        })
    }
}

const COMPETITORS: usize = 5;
/// Less than a time slice. Otherwise the scheduler would no longer prefer a thread that wakes up.
const BURST_NS: f64 = 2_000_000.0;
const PAUSE: std::time::Duration = std::time::Duration::from_millis(1);

fn quantiles(cpu: usize) {
    let pinned = affinity::pin(cpu);
    if let Err(error) = &pinned {
        eprintln!("trust: {error}");
    }
    let length = length();
    let mut ratios: [Vec<f64>; 2] = Default::default();
    let mut micros: [Vec<f64>; 4] = Default::default();
    for _ in 0..ROUNDS {
        let idle = Quantiles::take(length);
        let contended = Quantiles::take_contended(length, cpu);
        ratios[0].push(contended.clean_p99 / idle.clean_p99);
        ratios[1].push(contended.all_p999 / idle.all_p999);
        let ticks = [
            contended.clean_p99,
            idle.clean_p99,
            contended.all_p999,
            idle.all_p999,
        ];
        for (micros, ticks) in micros.iter_mut().zip(ticks) {
            micros.push(ticks / ticks_per_ns() / 1e3);
        }
    }
    let [contended_p99, idle_p99, contended_p999, idle_p999] = micros.map(median);
    let [[low, middle, high], [all_low, all_middle, all_high]] = ratios.map(quartiles);
    target::print(
        "3 µs on a contended CPU: p99 of the clean calls ÷ on an idle CPU",
        "≤ 1.3",
        format!("{contended_p99:.2} µs ÷ {idle_p99:.2} µs = {middle:.2} ({low:.2}–{high:.2})"),
        middle <= 1.3,
    );
    target::print(
        "the same, p99.9 of all calls",
        "> 100",
        format!(
            "{contended_p999:.0} µs ÷ {idle_p999:.1} µs = {all_middle:.0} ({all_low:.0}–{all_high:.0})"
        ),
        all_middle > 100.0,
    );
}

/// The number of multiplications in the short function.
fn length() -> u32 {
    const TRIED: u32 = 1_000;
    let ticks = median(
        (0..101)
            .map(|_| {
                let start = Lfence::start();
                short(TRIED);
                elapsed(start, Lfence::stop()) as f64
            })
            .collect(),
    );
    (SHORT_NS * ticks_per_ns() / ticks * f64::from(TRIED)) as u32
}

fn ticks_per_ns() -> f64 {
    tsc_runtime::calibration::rate().map_or(1.0, |rate| rate.hz() / 1e9)
}
