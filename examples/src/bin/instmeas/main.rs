//! Prints what instmeas prints: the processors, and the costs of its instructions beside the samples in its README. With `--all` it prints
//! the whole catalogue, and with `--csv` the catalogue as CSV.
//!
//! `cargo run --release -p examples --bin instmeas -- --all`

#[cfg(target_arch = "x86_64")]
mod processors;
#[cfg(target_arch = "x86_64")]
mod samples;

use std::io::Write;
use std::process::ExitCode;

use examples::command::{Example, Flags, Outcome};

const EXAMPLE: Example = Example {
    name: "instmeas",
    about: "Measures the instructions that instmeas (github.com/misoboute/instmeas) measures, latency and throughput apart,\n\
            and shows the seven samples of its README beside them.",
    flags: &[
        ("all", "the whole catalogue of instructions as well"),
        ("csv", "the catalogue alone, as CSV"),
    ],
};

fn main() -> ExitCode {
    EXAMPLE.run(run)
}

#[cfg(target_arch = "x86_64")]
fn run(flags: &Flags, out: &mut dyn Write) -> Outcome {
    use examples::catalogue::{self, Row};

    let processors = processors::all();
    let _pinned = examples::stay_on_one_cpu();
    if flags.has("csv") {
        let rows: Vec<Row> = catalogue::instructions().map(Row::of).collect();
        return Ok(write!(out, "{}", catalogue::csv(&rows))?);
    }
    processors
        .iter()
        .try_for_each(|processor| writeln!(out, "{processor}"))?;
    writeln!(out, "Beginning measurement...\n")?;
    out.flush()?;
    table::print(out)?;
    writeln!(out, "\nFinished measurement!")?;
    if flags.has("all") {
        writeln!(out, "\n{}", catalogue::heading())?;
        catalogue::instructions().try_for_each(|it| writeln!(out, "{}", Row::of(it)))?;
    }
    Ok(())
}

#[cfg(not(target_arch = "x86_64"))]
fn run(_: &Flags, out: &mut dyn Write) -> Outcome {
    Ok(writeln!(out, "the instructions are x86-64's")?)
}

#[cfg(target_arch = "x86_64")]
mod table {
    use super::samples::{LISTINGS, SAMPLES};
    use super::{Outcome, Write};
    use examples::catalogue;
    use tsc_runtime::instruction::{Estimate, Instruction};

    pub(super) fn print(out: &mut dyn Write) -> Outcome {
        writeln!(
            out,
            "{:<12} {:^31}   {:^55}",
            "", "here, an instruction", "instmeas' README, an instruction, ticks"
        )?;
        writeln!(
            out,
            "{:<12} {:>9} {:>11} {:>9}",
            "", "latency", "throughput", "the same"
        )?;
        write!(
            out,
            "{:<12} {:>9} {:>11} {:>9}  ",
            "", "cycles", "cycles", "ticks"
        )?;
        for (number, _) in (1..).zip(SAMPLES) {
            write!(out, "{:>8}", format!("#{number}"))?;
        }
        writeln!(out)?;
        for (i, (listing, name, operands)) in LISTINGS.into_iter().enumerate() {
            write!(out, "{listing:<12} ")?;
            match catalogue::find(name, operands).map(Instruction::measure) {
                Some(Ok(timing)) => {
                    let cycles = |it: Option<Estimate>| figure(it.map(|it| it.cycles()));
                    write!(
                        out,
                        "{:>9} {:>11} {:>9}  ",
                        cycles(timing.latency()),
                        cycles(timing.throughput()),
                        figure(timing.throughput().map(|it| it.ticks()))
                    )?;
                }
                Some(Err(reason)) => write!(out, "skipped: {reason}  ")?,
                None => write!(out, "not in the catalogue  ")?,
            }
            for sample in SAMPLES {
                write!(out, "{:>8}", figure(sample.ticks[i]))?;
            }
            writeln!(out)?;
        }
        writeln!(
            out,
            "\ncycles: core cycles; throughput: an instruction among others of its kind that do not wait for each other"
        )?;
        for (number, sample) in (1..).zip(SAMPLES) {
            writeln!(out, "#{number} {}", sample.processor)?;
        }
        Ok(())
    }

    fn figure(figure: Option<f64>) -> String {
        figure.map_or_else(|| "-".to_owned(), |figure| format!("{figure:.2}"))
    }
}
