//! Runs a double loop sixty times, and prints the mean, the standard deviation, the lower threshold and a chart of all runs; then runs it
//! thousands of times, and prints the values around which the runs gather; then measures the loop until its cost is constant.
//!
//! `cargo run --release -p examples --bin double_loop`

mod chart;
mod modes;
mod runs;

use std::hint::black_box;
use std::io::Write;
use std::process::{Command, ExitCode, Stdio};

use examples::command::{Example, Outcome};
use modes::Mode;
use runs::Runs;
use tsc_runtime::measure::Measure;
use tsc_runtime::{start, stop, tsc};

const EXAMPLE: Example = Example {
    name: "double_loop",
    about: "Times a double loop of 254 x 254 turns sixty times with a start and a stop, as\n\
            \"A Simple Method For Timing Code\" (CodeGuru, 2001) did with PERF_START, PERF_STOP and PERF_REPORT.",
    flags: &[(
        "threshold",
        "the lower threshold of sixty runs alone, in ticks",
    )],
};

const RUNS: usize = 60;
/// The number of processes of which the lower thresholds are shown.
const PROCESSES: usize = 12;
/// The number of runs in which modes are sought: the branch predictor may need thousands to learn the loops.
const MORE_RUNS: usize = 6000;
/// The turns of each of the article's loops, from 1 to 0xfe.
const TURNS: u32 = 254;

/// The article's figures for its sixty runs, on a Pentium III under Windows 98.
const ARTICLE: Runs = Runs {
    count: RUNS,
    mean: 463_885.38,
    deviation_percent: 4.84,
    threshold: 457_313.0,
};

/// The article's loops. `k` is in memory; otherwise the compiler would remove the loops.
#[inline(never)]
fn double_loop<const OUTER: u32, const INNER: u32>() {
    let mut k = 0;
    for i in 1..OUTER + 1 {
        for j in 1..INNER + 1 {
            black_box(&mut k);
            k = i + j;
        }
    }
    black_box(k);
}

fn main() -> ExitCode {
    EXAMPLE.run(|flags, out| {
        tsc::detect()?;
        let _pinned = examples::stay_on_one_cpu();
        let ticks = run::<TURNS, TURNS>(RUNS);
        if flags.has("threshold") {
            return Ok(writeln!(out, "{:.0}", Runs::of(&ticks).threshold)?);
        }
        if let Some(ticks) = ticks.last() {
            writeln!(out, "Ticks needed: {ticks:.0} (by the last run)\n")?;
        }
        side_by_side(out, &Runs::of(&ticks))?;
        writeln!(out, "\nrun by run, ticks:\n")?;
        chart::print(out, &ticks)?;
        let of_processes = modes::find(&print_thresholds(out)?);
        print_depths(out)?;
        let found = modes::find(&run::<TURNS, TURNS>(MORE_RUNS));
        print_modes(out, "254 x 254 turns", &found)?;
        let short = modes::find(&run::<1016, 64>(MORE_RUNS));
        print_modes(out, "about as many turns, 1016 x 64", &short)?;
        measured_to_a_constant(out, &found, &of_processes)
    })
}

/// Runs this program again in processes of their own, because each finds code, stack and predictors in another state. Returns what it has
/// printed.
fn print_thresholds(out: &mut dyn Write) -> Result<Vec<f64>, Box<dyn std::error::Error>> {
    writeln!(
        out,
        "\nthe lower thresholds of {PROCESSES} processes, sixty runs each, ticks:\n"
    )?;
    let mut thresholds = Vec::with_capacity(PROCESSES);
    for _ in 0..PROCESSES {
        let process = Command::new(std::env::current_exe()?)
            .arg("--threshold")
            .stderr(Stdio::inherit())
            .output()?;
        let threshold = String::from_utf8_lossy(&process.stdout);
        write!(out, " {}", threshold.trim())?;
        // A process that measures nothing has none.
        let ticks: f64 = threshold.trim().parse()?;
        if ticks.is_finite() {
            thresholds.push(ticks);
        }
    }
    writeln!(out)?;
    Ok(thresholds)
}

/// Shows whether the mode depends on where `k` and the other variable of the loop, which `black_box` writes to, lie in their cache lines.
fn print_depths(out: &mut dyn Write) -> Outcome {
    const DEPTHS: [(u32, fn() -> f64); 6] = [
        (0, deeper::<0>),
        (16, deeper::<16>),
        (32, deeper::<32>),
        (48, deeper::<48>),
        (64, deeper::<64>),
        (80, deeper::<80>),
    ];
    writeln!(
        out,
        "\nthe medians of {RUNS} runs each, with the stack so many bytes deeper, ticks:\n"
    )?;
    for (bytes, median) in DEPTHS {
        writeln!(out, "{bytes:>10} bytes: {:>8.0}", median())?;
    }
    Ok(())
}

/// The median of as many runs, with the stack `BYTES` deeper.
#[inline(never)]
fn deeper<const BYTES: usize>() -> f64 {
    let below = [0_u8; BYTES];
    black_box(&below);
    let mut ticks = run::<TURNS, TURNS>(RUNS);
    black_box(&below);
    ticks.sort_unstable_by(f64::total_cmp);
    ticks.get(ticks.len() / 2).copied().unwrap_or(f64::NAN)
}

fn print_modes(out: &mut dyn Write, loops: &str, modes: &[Mode]) -> Outcome {
    writeln!(
        out,
        "\n{MORE_RUNS} runs more, {loops}; modes, each with a tenth of the runs or more within 2 %:\n"
    )?;
    for mode in modes {
        let (first, last) = mode.runs;
        writeln!(
            out,
            "{:>10.0} ticks: {:>3.0} % of the runs, from run {first} to run {last}",
            mode.ticks,
            100.0 * mode.share
        )?;
    }
    if modes.is_empty() {
        writeln!(out, "none: the runs are scattered")?;
    }
    Ok(())
}

/// A constant measurement shows one of the modes, so this says which one: of those that this process has run in, or of those of the others.
fn measured_to_a_constant(out: &mut dyn Write, modes: &[Mode], of_processes: &[Mode]) -> Outcome {
    writeln!(out, "\nthe same measured to a constant:\n")?;
    let measured = Measure::new("double loop")
        .precision(0.002)
        .run(double_loop::<TURNS, TURNS>);
    write!(out, "{measured}")?;
    if !measured.is_constant() {
        return Ok(());
    }
    let ticks = measured.mean_ticks();
    let among = |modes: &[Mode]| modes.iter().copied().find(|mode| mode.contains(ticks));
    match (among(modes), among(of_processes)) {
        (Some(mode), _) if modes.len() > 1 => writeln!(
            out,
            "this is the mode of {:.0} ticks, one of {}",
            mode.ticks,
            modes.len()
        )?,
        (Some(_), _) => {}
        (None, Some(mode)) => writeln!(
            out,
            "this is the mode of {:.0} ticks, which {:.0} of the {PROCESSES} processes had, and not that of the {MORE_RUNS} runs",
            mode.ticks,
            mode.share * PROCESSES as f64
        )?,
        (None, None) => writeln!(out, "this is none of the modes above")?,
    }
    Ok(())
}

/// The ticks of each run. The first one finds cold caches.
fn run<const OUTER: u32, const INNER: u32>(runs: usize) -> Vec<f64> {
    let ticks = (0..runs)
        .filter_map(|_| {
            let run = start!("double loop");
            double_loop::<OUTER, INNER>();
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
            format!("{:.3}", runs.threshold / f64::from(TURNS * TURNS))
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
