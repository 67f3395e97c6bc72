//! Runs a double loop sixty times, and prints the mean, the standard deviation, the lower threshold and a chart of all runs; then measures
//! the loop until its cost is constant.
//!
//! `cargo run --release -p examples --bin double_loop`

mod chart;
mod runs;

use std::hint::black_box;
use std::io::Write;
use std::process::ExitCode;

use examples::command::{Example, Outcome};
use runs::Runs;
use tsc_runtime::measure::Measure;
use tsc_runtime::{start, stop, tsc};

const EXAMPLE: Example = Example {
    name: "double_loop",
    about: "Times a double loop of 254 x 254 turns sixty times with a start and a stop, as\n\
            \"A Simple Method For Timing Code\" (CodeGuru, 2001) did with PERF_START, PERF_STOP and PERF_REPORT.",
    flags: &[],
};

const RUNS: usize = 60;
/// The bound of both loops, which begin at one.
const BOUND: u32 = 0xff;
const TURNS: u32 = (BOUND - 1) * (BOUND - 1);

/// The article's figures for its sixty runs, on a Pentium III under Windows 98.
const ARTICLE: Runs = Runs {
    count: RUNS,
    mean: 463_885.38,
    deviation_percent: 4.84,
    threshold: 457_313.0,
};

/// The article's loops. Its variables were in memory, and so is `k` here; otherwise the compiler would remove the loops.
fn double_loop() {
    let mut k = 0;
    for i in 1..BOUND {
        for j in 1..BOUND {
            black_box(&mut k);
            k = i + j;
        }
    }
    black_box(k);
}

fn main() -> ExitCode {
    EXAMPLE.run(|_, out| {
        tsc::detect()?;
        let _pinned = examples::stay_on_one_cpu();
        let ticks = sixty_runs();
        if let Some(ticks) = ticks.last() {
            writeln!(out, "Cycles needed: {ticks:.0} (ticks, by the last run)\n")?;
        }
        side_by_side(out, &Runs::of(&ticks))?;
        writeln!(out, "\nrun by run:\n")?;
        chart::print(out, &ticks)?;
        writeln!(out, "\nthe same measured to a constant:\n")?;
        write!(
            out,
            "{}",
            Measure::new("double loop")
                .precision(0.002)
                .run(double_loop)
        )?;
        Ok(())
    })
}

/// The ticks of each run. The first one finds cold caches.
fn sixty_runs() -> Vec<f64> {
    let ticks = (0..RUNS)
        .filter_map(|_| {
            let run = start!("double loop");
            double_loop();
            stop!(run)
        })
        .collect();
    // The runs are printed here, so the dump at the end of the program need not contain them.
    tsc_runtime::reset();
    ticks
}

/// Formats a figure of a summary.
type Figure = fn(&Runs) -> String;

fn side_by_side(out: &mut dyn Write, ours: &Runs) -> Outcome {
    let rows: [(&str, Figure); 6] = [
        ("runs", |runs| runs.count.to_string()),
        ("mean", |runs| format!("{:.2}", runs.mean)),
        ("standard deviation", |runs| {
            format!("{:.2} %", runs.deviation_percent)
        }),
        ("lower threshold", |runs| format!("{:.0}", runs.threshold)),
        ("mean above the threshold", |runs| {
            format!("{:.2} %", 100.0 * (runs.mean / runs.threshold - 1.0))
        }),
        ("threshold per turn", |runs| {
            format!("{:.3}", runs.threshold / f64::from(TURNS))
        }),
    ];
    writeln!(
        out,
        "{:<26}{:>22}{:>16}",
        "", "article's CPU cycles", "here, ticks"
    )?;
    for (name, figure) in rows {
        writeln!(
            out,
            "{name:<26}{:>22}{:>16}",
            figure(&ARTICLE),
            figure(ours)
        )?;
    }
    Ok(())
}
