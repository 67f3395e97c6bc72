//! Compares the calls' times on the CPU, blocked and waiting with what the kernel and other clocks say about the same calls.

mod asynchronous;
mod blocked;
mod compute;
mod nested;
mod ping_pong;
mod ranking;
mod selection;
mod waiting;
mod work;

use std::io;

use tsc_runtime::{CallsiteReport, snapshot};

use overhead::table::quartiles;

pub(crate) fn run(cpu: usize) -> io::Result<()> {
    compute::run(cpu);
    blocked::run()?;
    waiting::run(cpu);
    nested::run();
    ranking::run()?;
    selection::run(cpu);
    ping_pong::run()?;
    asynchronous::run(cpu);
    Ok(())
}

fn row(name: &str) -> Option<CallsiteReport> {
    snapshot().callsite(name).cloned()
}

fn ticks_per_second() -> f64 {
    tsc_runtime::calibration::rate().map_or(1e9, |rate| rate.hz())
}

/// The share of the wall time, in percent.
fn share(row: &CallsiteReport, part: Option<f64>) -> f64 {
    part.map_or(f64::NAN, |part| part / row.wall_ticks() * 100.0)
}

/// The median of some ratios, with the quartiles.
fn spread(ratios: &[f64]) -> (f64, String) {
    let [low, middle, high] = quartiles(ratios.to_vec());
    (middle, format!("{middle:.3} ({low:.3}–{high:.3})"))
}
