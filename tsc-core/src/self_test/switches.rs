//! Measures how uncertain a context switch makes a thread's CPU time.
//!
//! If no other thread wants the CPU, a thread that yields makes only a system call. Beside another thread that yields all the time, each
//! yield also causes a switch. The difference between the CPU times of the two cases is the part of a switch that the kernel counts as
//! the thread's own. The time for refilling the caches depends on the work, and is not included.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{self, Builder};

use super::{Finding, doubtful, good, unknown};
use crate::calibration::statistics::median;
use crate::on_cpu::{self, CERTAIN, OnCpu, SWITCH_NS};
use crate::process::cpu_time;
use crate::{affinity, interruption};

const YIELDS: u32 = 1000;
const ROUNDS: usize = 7;

pub(super) fn line() -> Finding {
    let why = interruption::unavailable().or(on_cpu::unavailable());
    match why.map_or_else(measure, Err) {
        Ok(switch_ns) => assess(switch_ns),
        Err(why) => unknown(format!("not measured: {why}"))
            .means("the time on the CPU of interrupted calls is unknown")
            .advise("compare wall times, and stop other work on the machine"),
    }
}

fn assess(switch_ns: f64) -> Finding {
    let value = format!("{:.1} µs of the thread's CPU time", switch_ns / 1e3);
    if switch_ns <= SWITCH_NS {
        good(value)
            .means("interrupted calls are samples if they were on the CPU for 0.2 ms or more per context switch")
    } else {
        doubtful(value)
            .means("in interrupted calls of a few tenths of a millisecond, over 1 % of the time is the cost of context switches")
            .advise("trust functions with many clean calls; stop other work on the machine")
    }
}

// The 0.2 ms in the message of `assess`.
const _: () = assert!(SWITCH_NS * CERTAIN == 200_000.0);

/// The reasons why there is no result.
const NOT_PLACED: &str = "the kernel does not place threads on a CPU";
const NO_THREAD: &str = "no thread can be started";
const FEW: &str = "threads that yield on the same CPU did not take turns";

/// Why threads do not learn their CPU time. That is found out when the first one asks.
fn silent() -> &'static str {
    on_cpu::unavailable().unwrap_or("the kernel does not answer")
}

/// The nanoseconds of CPU time that a switch takes.
fn measure() -> Result<f64, &'static str> {
    let cpus = affinity::cpus().map_err(|_| NOT_PLACED)?;
    let &cpu = cpus.last().ok_or(NOT_PLACED)?;
    thread::scope(|scope| {
        let measured = Builder::new().spawn_scoped(scope, || {
            let _pinned = affinity::pin(cpu).map_err(|_| NOT_PLACED)?;
            let on_cpu = OnCpu::new();
            on_cpu.attach();
            let rounds = [(); ROUNDS].map(|()| round(&on_cpu, cpu));
            on_cpu.detach();
            let measured = rounds.iter().filter_map(|round| round.ok()).collect();
            median(measured).map_or(rounds[0], Ok)
        });
        let measured = measured.map_err(|_| NO_THREAD)?;
        measured.join().unwrap_or(Err(NO_THREAD))
    })
}

/// The same from one round.
fn round(on_cpu: &OnCpu, cpu: usize) -> Result<f64, &'static str> {
    let (alone, _) = yields(on_cpu).ok_or_else(silent)?;
    let done = AtomicBool::new(false);
    let (beside, switches) = thread::scope(|scope| {
        let other = Builder::new().spawn_scoped(scope, || {
            let pinned = affinity::pin(cpu);
            while !done.load(Relaxed) {
                thread::yield_now();
            }
            drop(pinned);
        });
        other.map_err(|_| NO_THREAD)?;
        thread::yield_now();
        let beside = yields(on_cpu);
        done.store(true, Relaxed);
        beside.ok_or_else(silent)
    })?;
    // On a busy machine, other threads also take the CPU; these switches count as well.
    let switch = (beside - alone).max(0.0) / f64::from(switches);
    (switches > YIELDS / 4).then_some(switch).ok_or(FEW)
}

/// The CPU time of [`YIELDS`] yields in nanoseconds, and the number of switches meanwhile.
fn yields(on_cpu: &OnCpu) -> Option<(f64, u32)> {
    on_cpu.ask(false)?;
    let before = cpu_time::of_thread()?;
    (0..YIELDS).for_each(|_| thread::yield_now());
    let spent = cpu_time::of_thread()?.saturating_sub(before);
    Some((spent as f64, on_cpu.ask(false)?.loss.switches))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::self_test::Verdict::{Doubtful, Good};

    #[test]
    fn switch_that_costs_more_than_is_assumed_is_doubtful() {
        let verdict = |switch_ns| assess(switch_ns).verdict;
        assert_eq!([verdict(500.0), verdict(2_000.0)], [Good; 2]);
        assert_eq!(verdict(5_000.0), Doubtful);
    }

    #[test]
    fn line_is_there_wherever_it_is_asked_for() {
        let line = line();
        assert!(line.value.contains("µs") || line.value.contains("not measured"));
    }
}
