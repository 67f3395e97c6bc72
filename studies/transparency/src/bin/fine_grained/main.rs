//! Programs whose functions take a few nanoseconds, with every function light: are the figures those that a sampling profiler gives for the
//! program without probes, and what do the probes cost?
//!
//! `cargo run --release --manifest-path studies/transparency/Cargo.toml --bin fine_grained [--coverage] [RUNS [PROGRAM…]]` fetches the
//! programs' crates from the public registry, builds them in several forms, runs these in turns (5 times by default), records the one
//! without probes and the light one by `perf`, and prints tables. With `--coverage` it also compares the stated standard errors with the
//! differences between 40 runs. Linux only; `perf` is in Debian's package `linux-perf`.

#![forbid(unsafe_code)]

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::{env, io};

use transparency::programs::calls::Names;
use transparency::programs::process::run;
use transparency::programs::profile;
use transparency::programs::run::{Report, Row, Run};
use transparency::programs::statistics::range;
use transparency::programs::{FURTHER, Form, PROGRAMS, Program, build};
use transparency::{cargo, fetch};

mod agreement;
mod coverage;
mod size;

const RUNS: usize = 5;
/// How long the bare program works in a run, in ns.
const WORK: f64 = 3.5e9;

fn main() -> io::Result<()> {
    let mut arguments: Vec<String> = env::args().skip(1).collect();
    let with_coverage = arguments.first().is_some_and(|first| first == "--coverage");
    arguments.drain(..usize::from(with_coverage));
    let runs = arguments.first().and_then(|runs| runs.parse().ok());
    let wanted = arguments.get(1..).unwrap_or_default();
    profile::check()?;
    let scratch = cargo::scratch("fine_grained")?;
    for program in PROGRAMS.iter().chain(&FURTHER) {
        let is_default = PROGRAMS.iter().any(|other| other.name == program.name);
        if wanted.is_empty() && is_default || wanted.iter().any(|name| name == program.name) {
            measure(program, runs.unwrap_or(RUNS), with_coverage, &scratch)?;
        }
    }
    Ok(())
}

/// The executables.
struct Forms {
    bare: PathBuf,
    not_inlined: PathBuf,
    light: PathBuf,
    light_root: PathBuf,
    timed: PathBuf,
    /// How many functions have an attribute.
    functions: usize,
}

impl Forms {
    fn build(program: &Program, scratch: &Path) -> io::Result<(String, Self)> {
        let (version, source) = fetch::newest(program.name, scratch)?;
        let form = |form| build(program, &source, scratch, form);
        let (light, functions) = form(Form::Light)?;
        let forms = Self {
            bare: form(Form::Bare)?.0,
            not_inlined: form(Form::NotInlined)?.0,
            light,
            light_root: form(Form::LightRoot)?.0,
            timed: form(Form::Timed)?.0,
            functions,
        };
        Ok((version, forms))
    }
}

/// One run of each form, one after the other.
struct Round {
    bare: Run,
    not_inlined: Run,
    light: Run,
    report: Report,
    profile: profile::Samples,
    /// That of the light program.
    profile_of_light: profile::Samples,
}

impl Round {
    fn measure(forms: &Forms, turns: u64) -> io::Result<Self> {
        let (light, report) = run_reporting(&forms.light, turns)?;
        let round = Self {
            bare: run(&forms.bare, turns)?,
            not_inlined: run(&forms.not_inlined, turns)?,
            light,
            report,
            profile: profile::record(&forms.not_inlined, turns)?,
            profile_of_light: profile::record(&forms.light, turns)?,
        };
        let outcomes = [&round.bare, &round.not_inlined, &round.light].map(|run| &run.outcome);
        if outcomes.iter().any(|outcome| *outcome != outcomes[0]) {
            return Err(io::Error::other("the forms compute different results"));
        }
        Ok(round)
    }

    /// The ticks of the clock in all rows.
    fn clock_ticks(&self) -> u64 {
        self.report.rows.iter().map(|row| row.clock_ticks).sum()
    }
}

/// Runs an annotated program.
fn run_reporting(executable: &Path, turns: u64) -> io::Result<(Run, Report)> {
    let mut run = run(executable, turns)?;
    let report = run.report.take();
    let report = report.ok_or_else(|| io::Error::other("the program has no report"))?;
    Ok((run, report))
}

fn measure(program: &Program, runs: usize, with_coverage: bool, scratch: &Path) -> io::Result<()> {
    let (version, forms) = Forms::build(program, scratch)?;
    let turns = (WORK / run(&forms.bare, 1)?.took).ceil().max(1.0) as u64;
    let rounds = (0..runs)
        .map(|_| Round::measure(&forms, turns))
        .collect::<io::Result<Vec<Round>>>()?;
    println!(
        "\n## {}: {} {version}, {} light functions, {runs} runs\n\n| | median (range) |\n|---|---|",
        program.kind, program.name, forms.functions
    );
    print_totals(&rounds);
    let (_, timed) = run_reporting(&forms.timed, turns)?;
    print_counts(&rounds, &timed);
    print_size(&forms)?;
    if let Some(round) = rounds.first() {
        let names = names(&round.report);
        let callers = |form| profile::Callers::record(form, turns, &names);
        let (bare, light) = (callers(&forms.not_inlined)?, callers(&forms.light)?);
        agreement::print(&rounds, &names, &bare, &light);
    }
    if with_coverage {
        coverage::print(&forms.light, turns)?;
    }
    Ok(())
}

fn names(report: &Report) -> Names {
    let mut names = Names::default();
    for row in &report.rows {
        names.add(&row.module, &row.name);
    }
    names
}

fn print_totals(rounds: &[Round]) {
    let line = |name: &str, of: &dyn Fn(&Round) -> f64| {
        println!("| {name} | {} |", range(rounds.iter().map(of)));
    };
    let calls = |round: &Round| round.report.calls() as f64;
    line("million calls", &|round| calls(round) / 1e6);
    line("ns of work a call", &|round| round.bare.took / calls(round));
    line("light ÷ bare, CPU time", &|round| {
        round.light.took / round.bare.took
    });
    line("not inlined ÷ bare, CPU time", &|round| {
        round.not_inlined.took / round.bare.took
    });
    line("ns a call, light − not inlined", &|round| {
        (round.light.took - round.not_inlined.took) / calls(round)
    });
    line("the clock's CPU time, % of the program's", &|round| {
        100.0 * round.report.clock_took / round.light.took
    });
    line("subtracted for probes, % of the CPU time", &|round| {
        let subtracted: f64 = round.report.rows.iter().map(|row| row.subtracted).sum();
        100.0 * subtracted / round.report.ticks_per_ns / round.light.took
    });
    let sum = "Σ self and what was subtracted, % of the CPU time without the clock's";
    line(sum, &|round| {
        let threads = round.light.took - round.report.clock_took;
        100.0 * round.report.with_probes() / round.report.ticks_per_ns / threads
    });
    line("thousand clock ticks in rows", &|round| {
        round.clock_ticks() as f64 / 1e3
    });
}

/// How many rows have the counts of a timed run.
fn print_counts(rounds: &[Round], timed: &Report) {
    let of = |report: &Report| -> HashSet<(String, String, (String, u32), u64)> {
        let rows = report.rows.iter().filter(|row| row.calls != 0);
        let key = |row: &Row| {
            (
                row.module.clone(),
                row.name.clone(),
                row.place.clone(),
                row.calls,
            )
        };
        rows.map(key).collect()
    };
    let expected = of(timed);
    let as_timed = |round: &Round| of(&round.report).intersection(&expected).count() as f64;
    println!(
        "| rows with the count of a timed run, of {} | {} |",
        expected.len(),
        range(rounds.iter().map(as_timed))
    );
}

/// What the probes add to the code of a program in which the runtime and the root are the same.
fn print_size(forms: &Forms) -> io::Result<()> {
    let more = |of: fn(&Path) -> io::Result<f64>| -> io::Result<f64> {
        Ok(of(&forms.light)? - of(&forms.light_root)?)
    };
    let bytes = more(size::code)?;
    println!(
        "| bytes of code a light function, more than not inlined | {:.0} |\n| … a light function in the executable | {:.0} |",
        bytes / forms.functions as f64,
        bytes / more(size::callsites)?
    );
    Ok(())
}
