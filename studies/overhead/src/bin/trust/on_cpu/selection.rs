//! Calls of very different lengths beside a busy thread: the long ones are interrupted, but must be samples nevertheless.

use std::hint::black_box;
use std::time::Duration;

use tsc_runtime::cycles;

use super::work::{beside, steps_in, work};
use super::{row, ticks_per_second};
use overhead::kernel::{self, cpu_time};
use overhead::target;

const CALLS: usize = 400;
const LONGEST: Duration = Duration::from_millis(8);

#[cycles(name = "trust: 0 to 8 ms")]
#[inline(never)]
fn of_any_length(steps: u64) -> u64 {
    work(steps)
}

/// One call, with the kernel's figures about it.
struct Call {
    seconds: f64,
    was_switched: bool,
}

pub(super) fn run(cpu: usize) {
    let most = steps_in(LONGEST);
    let calls: Vec<Call> = beside(1, cpu, || {
        of_any_length(1);
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        let mut lengths = (0..CALLS).map(|_| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random as f64 / u64::MAX as f64 * most as f64) as u64
        });
        lengths
            .by_ref()
            .map(|steps| {
                let (switches, start) = (kernel::switches(), cpu_time());
                black_box(of_any_length(black_box(steps)));
                let seconds = (cpu_time() - start).as_secs_f64();
                Call {
                    seconds,
                    was_switched: kernel::switches() != switches,
                }
            })
            .collect()
    });
    let mean = |calls: &mut dyn Iterator<Item = &Call>| {
        let (count, sum) = calls.fold((0.0, 0.0), |(count, sum), call| {
            (count + 1.0, sum + call.seconds)
        });
        sum / count
    };
    let truth = mean(&mut calls.iter());
    let whole = mean(&mut calls.iter().filter(|call| !call.was_switched)) / truth;
    let Some(report) = row("trust: 0 to 8 ms").filter(|row| row.repaired().is_some()) else {
        return target::print("selection", "", "not known here".to_owned(), false);
    };
    let measured = report.mean_ticks().unwrap_or(f64::NAN) / ticks_per_second() / truth;
    target::print(
        &format!(
            "uniformly 0 to 8 ms beside a busy thread: mean of the {} clean and {} repaired calls ÷ the CPU time of all; of those without a switch alone",
            report.clean().unwrap_or(0),
            report.repaired().unwrap_or(0)
        ),
        "0.92–1.08, and nearer than the latter, which is too low",
        format!("{measured:.3}; {whole:.3}"),
        (0.92..=1.08).contains(&measured)
            && whole < 1.0
            && (measured - 1.0).abs() < (whole - 1.0).abs(),
    );
}
