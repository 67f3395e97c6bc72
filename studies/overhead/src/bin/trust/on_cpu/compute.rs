//! A function that computes, alone and beside three busy threads on the same CPU.

use std::hint::black_box;
use std::time::Duration;

use tsc_runtime::cycles;

use super::work::{beside, steps_in, work};
use super::{row, spread};
use crate::target;

const ROUNDS: usize = 5;
const HOGS: usize = 3;

/// The same function twice: one for calls without competitors, and one for calls beside busy threads.
#[cycles(name = "trust: computes alone")]
#[inline(never)]
fn alone(steps: u64) -> u64 {
    work(steps)
}

#[cycles(name = "trust: computes beside others")]
#[inline(never)]
fn beside_others(steps: u64) -> u64 {
    work(steps)
}

pub(super) fn run(cpu: usize) {
    for (micros, calls) in [(300, 400), (3_000, 60), (20_000, 20), (100_000, 6)] {
        let length = Duration::from_micros(micros);
        let (mut on_cpu, mut wall) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let steps = steps_in(length);
            tsc_runtime::reset();
            // The two take turns, because the load from other programs changes.
            for _ in 0..4 {
                beside(0, cpu, || calls_of(alone, steps, calls / 4));
                beside(HOGS, cpu, || calls_of(beside_others, steps, calls / 4));
            }
            let rows = row("trust: computes alone").zip(row("trust: computes beside others"));
            let means = rows.and_then(|(alone, beside)| {
                let mean = alone.on_cpu_ticks()? / alone.calls() as f64;
                let mean_beside = beside.on_cpu_ticks()? / beside.calls() as f64;
                let wall = beside.total_ticks() / beside.calls() as f64;
                Some((mean_beside / mean, wall / mean))
            });
            if let Some((ratio, wall_ratio)) = means {
                on_cpu.push(ratio);
                wall.push(wall_ratio);
            }
        }
        print(length, &on_cpu, &wall);
    }
}

fn calls_of(function: fn(u64) -> u64, steps: u64, calls: usize) {
    (0..=calls).for_each(|_| _ = black_box(function(black_box(steps))));
}

fn print(length: Duration, on_cpu: &[f64], wall: &[f64]) {
    if on_cpu.is_empty() {
        return target::print("on the CPU", "", "not known here".to_owned(), false);
    }
    let (middle, measured) = spread(on_cpu);
    let (wall, wall_measured) = spread(wall);
    target::print(
        &format!(
            "computes for {length:?} beside {HOGS} busy threads: mean on the CPU ÷ its mean alone; mean by the wall ÷ the same"
        ),
        "0.9–1.12; ≥ 2.5",
        format!("{measured}; {wall_measured}"),
        (0.9..=1.12).contains(&middle) && wall >= 2.5,
    );
}
