//! A double loop sixty times: mean, standard deviation, lower threshold, and the histogram; and what the verdict makes of it.
//!
//! `cargo run --release -p examples --bin double_loop`

use std::hint::black_box;

use tsc_runtime::measure::Measure;
use tsc_runtime::tsc::{self, FencePolicy, Lfence, elapsed};

const RUNS: usize = 60;
const BARS: usize = 12;
/// How far above the least a run may be, to be like it.
const NEAR: f64 = 1.1;
const WIDTH: usize = 50;

/// A hundred times a hundred turns.
fn double_loop() -> u64 {
    let mut sum = 0_u64;
    for outer in 0..100_u64 {
        for inner in 0..100_u64 {
            sum = sum.wrapping_mul(31) ^ outer ^ inner;
        }
    }
    sum
}

fn main() -> Result<(), tsc::TscUnavailable> {
    tsc::detect()?;
    let runs: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Lfence::start();
            black_box(double_loop());
            elapsed(start, Lfence::stop()) as f64
        })
        .collect();
    println!("{RUNS} single runs, nothing subtracted, nothing thrown away:");
    show(&runs);

    // What lies far above the least was interrupted, or paid for the caches, the branch predictor and the clock's awakening.
    let least = runs.iter().copied().fold(f64::INFINITY, f64::min);
    let near: Vec<f64> = runs
        .iter()
        .copied()
        .filter(|run| *run <= NEAR * least)
        .collect();
    if near.len() < runs.len() {
        println!("\nthe {} runs up to a tenth above the least:", near.len());
        show(&near);
    }

    println!("\nthe same measured to a constant:");
    print!(
        "{}",
        Measure::new("double loop")
            .precision(0.002)
            .run(double_loop)
    );
    Ok(())
}

fn show(runs: &[f64]) {
    let n = runs.len() as f64;
    let mean = runs.iter().sum::<f64>() / n;
    let deviation = (runs.iter().map(|run| (run - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    let least = runs.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = runs.iter().copied().fold(0.0, f64::max);
    println!(
        "  mean {mean:.0} ticks, standard deviation {:.2} %, lower threshold {least:.0} ticks, greatest {greatest:.0}",
        100.0 * deviation / mean
    );
    let bar = ((greatest - least) / BARS as f64).max(1.0);
    let mut counts = [0_usize; BARS];
    for run in runs {
        counts[(((run - least) / bar) as usize).min(BARS - 1)] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(1).max(1);
    for (i, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        println!(
            "  {:>8.0} {count:>3} {}",
            least + bar * i as f64,
            "#".repeat((count * WIDTH).div_ceil(most))
        );
    }
}
