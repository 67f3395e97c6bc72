//! A function that computes, alone and beside four busy threads on the same CPU.

use std::hint::black_box;
use std::time::Duration;

use tsc_runtime::cycles;

use super::work::{beside, steps_in, work};
use super::{row, spread};
use overhead::target;

const ROUNDS: usize = 5;
const HOGS: usize = 4;

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
        let (mut totals, mut wall) = (Vec::new(), Vec::new());
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
                let of_total = beside.total_ticks() / alone.total_ticks();
                let of_mean = beside.mean_ticks()? / alone.mean_ticks()?;
                let wall = beside.wall_ticks() / alone.total_ticks();
                Some((of_total, of_mean, wall))
            });
            if let Some((of_total, of_mean, of_wall)) = means {
                totals.extend([of_total, of_mean]);
                wall.push(of_wall);
            }
        }
        print(length, &totals, &wall);
    }
}

fn calls_of(function: fn(u64) -> u64, steps: u64, calls: usize) {
    (0..=calls).for_each(|_| _ = black_box(function(black_box(steps))));
}

fn print(length: Duration, totals: &[f64], wall: &[f64]) {
    if totals.is_empty() {
        return target::print("on the CPU", "", "not known here".to_owned(), false);
    }
    let (middle, measured) = spread(totals);
    let (wall, wall_measured) = spread(wall);
    target::print(
        &format!(
            "computes for {length:?} beside {HOGS} busy threads: total and mean ÷ those alone; wall time ÷ the same"
        ),
        "0.9–1.1; ≥ 2.5",
        format!("{measured}; {wall_measured}"),
        (0.9..=1.1).contains(&middle) && wall >= 2.5,
    );
}
