//! Programs whose functions take a few nanoseconds, with every function annotated: are the figures correct, and what do they cost?
//!
//! `cargo run --release --manifest-path tests/transparency/Cargo.toml --bin fine_grained [RUNS [PROGRAM…]]` fetches the programs' crates
//! from the public registry, builds them bare and annotated, runs both in turns (20 times by default) and prints a table. Linux only:
//! a run's time is that of its thread on the CPU.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::{env, io};

use transparency::programs::process::{run, run_in_turns};
use transparency::programs::run::{Report, Row, Run};
use transparency::programs::statistics::{median, range, share};
use transparency::programs::{FURTHER, Form, PROGRAMS, Program, build};
use transparency::{cargo, fetch};
use tsc_runtime::affinity;

mod ranks;

const RUNS: usize = 20;
/// How often each process of a run calls its root, in turns with the other.
const TURNS: usize = 8;
/// Rows whose means are compared with those of a program in which only that row's function is annotated.
const LARGEST: usize = 10;

fn main() -> io::Result<()> {
    let mut arguments = env::args().skip(1);
    let runs = arguments
        .next()
        .and_then(|runs| runs.parse().ok())
        .unwrap_or(RUNS);
    let wanted: Vec<String> = arguments.collect();
    let scratch = cargo::scratch("fine_grained")?;
    for program in PROGRAMS.iter().chain(&FURTHER) {
        if wanted.is_empty() || wanted.iter().any(|name| name == program.name) {
            measure(program, runs, &scratch)?;
        }
    }
    Ok(())
}

/// The runs of each form. The forms take turns.
#[derive(Default)]
struct Runs {
    /// What the machine alone does to the comparison.
    bare: Vec<Compared>,
    /// Bare, but no function that would be annotated is inlined.
    not_inlined: Vec<Compared>,
    annotated: Vec<Compared>,
}

/// A run of the program in one of its forms, and one of the bare program that took turns with it.
struct Compared {
    run: Run,
    bare: Run,
}

impl Compared {
    /// The run's time ÷ that of the bare program.
    fn slowdown(&self) -> f64 {
        self.run.took / self.bare.took
    }
}

/// The executables.
struct Forms {
    bare: PathBuf,
    not_inlined: PathBuf,
    annotated: PathBuf,
}

impl Runs {
    fn measure(runs: usize, forms: &Forms) -> io::Result<Self> {
        // Both processes of a comparison inherit the CPU.
        let pinned = affinity::cpus().and_then(|cpus| affinity::pin(cpus[cpus.len() - 1]));
        if let Err(error) = &pinned {
            eprintln!("the processes may run on different CPUs: {error}");
        }
        let compare = |executable: &Path| -> io::Result<Compared> {
            let (bare, run) = run_in_turns(&forms.bare, executable, TURNS)?;
            Ok(Compared { run, bare })
        };
        let mut of = Self::default();
        for _ in 0..runs {
            of.bare.push(compare(&forms.bare)?);
            of.not_inlined.push(compare(&forms.not_inlined)?);
            of.annotated.push(compare(&forms.annotated)?);
        }
        Ok(of)
    }

    /// Whether all runs computed the same.
    fn agree(&self) -> bool {
        let forms = [&self.bare, &self.not_inlined, &self.annotated];
        let mut all = forms
            .into_iter()
            .flatten()
            .flat_map(|compared| [&compared.run.outcome, &compared.bare.outcome]);
        let Some(first) = all.next() else { return true };
        all.all(|outcome| outcome == first)
    }
}

fn measure(program: &Program, runs: usize, scratch: &Path) -> io::Result<()> {
    let (version, source) = fetch::newest(program.name, scratch)?;
    let (bare, _) = build(program, &source, scratch, "bare", &Form::Bare)?;
    let (not_inlined, _) = build(program, &source, scratch, "not_inlined", &Form::NotInlined)?;
    let (annotated, attributes) = build(program, &source, scratch, "all", &Form::All)?;
    let forms = Forms {
        bare,
        not_inlined,
        annotated,
    };
    let of = Runs::measure(runs, &forms)?;
    if !of.agree() {
        return Err(io::Error::other(
            "the annotated program computes something else",
        ));
    }
    println!(
        "\n## {}: {} {version}, {attributes} functions annotated\n\n| | |\n|---|---|",
        program.kind, program.name
    );
    print_bare(&of);
    print_totals(&of.annotated);
    print_rows(program, &source, scratch, &of.annotated)?;
    ranks::print(&forms.not_inlined, &of);
    Ok(())
}

fn reports(runs: &[Compared]) -> impl Iterator<Item = &Report> {
    runs.iter()
        .filter_map(|compared| compared.run.report.as_ref())
}

/// The root's net time, in ns. It is time on the CPU, so other processes do not change it much.
fn net(report: &Report) -> Option<f64> {
    Some(report.root()?.total / report.ticks_per_ns)
}

/// What the machine and the lost inlining alone do to the comparison.
fn print_bare(of: &Runs) {
    let milliseconds = of.bare.iter().map(|compared| compared.bare.took / 1e6);
    println!(
        "| bare, ms of CPU for {TURNS} calls of the root | {} |",
        range(&milliseconds.collect::<Vec<_>>())
    );
    let ratios = |runs: &[Compared]| runs.iter().map(Compared::slowdown).collect::<Vec<_>>();
    println!("| … ÷ bare | {} |", range(&ratios(&of.bare)));
    println!("| … in 0.9–1.1 | {} |", share(&ratios(&of.bare), is_close));
    println!(
        "| slowdown if nothing that is annotated is inlined | {} |",
        range(&ratios(&of.not_inlined))
    );
}

fn is_close(ratio: f64) -> bool {
    (0.9..=1.1).contains(&ratio)
}

fn print_totals(runs: &[Compared]) {
    let line = |name: &str, cell: String| println!("| {name} | {cell} |");
    let counts = |report: &Report| -> Vec<(String, u32, u64)> {
        let mut rows: Vec<_> = report
            .rows
            .iter()
            .map(|row| (row.place.file.clone(), row.place.line, row.calls))
            .collect();
        rows.sort();
        rows
    };
    if let Some(first) = reports(runs).next() {
        line(
            "million calls",
            format!("{:.2}", first.calls() as f64 / 1e6),
        );
        let expected = counts(first);
        let same = reports(runs).filter(|report| counts(report) == expected);
        let same = format!("{} of {}", same.count(), runs.len());
        line("runs with the same counts in every row", same);
    }
    // `figure` of each report, with the bare time beside it.
    let compare = |figure: &dyn Fn(&Report, f64) -> Option<f64>| -> Vec<f64> {
        let figure =
            |compared: &Compared| figure(compared.run.report.as_ref()?, compared.bare.took);
        runs.iter().filter_map(figure).collect()
    };
    let slowdowns: Vec<f64> = runs.iter().map(Compared::slowdown).collect();
    line("slowdown", range(&slowdowns));
    let more = |compared: &Compared| {
        let calls = compared.run.report.as_ref()?.calls();
        Some((compared.run.took - compared.bare.took) / calls as f64)
    };
    let more: Vec<f64> = runs.iter().filter_map(more).collect();
    line("ns a call more than bare", range(&more));
    let costs = compare(&|report, _| Some(report.cost_ticks));
    line("calibrated cost of a call, ticks", range(&costs));
    let above = compare(&|report, bare| {
        Some((net(report)? - bare) * report.ticks_per_ns / report.calls() as f64)
    });
    line(
        "cost of a call in the program above what is subtracted, ticks",
        range(&above),
    );
    let ratios = compare(&|report, bare| Some(net(report)? / bare));
    line("root's net ÷ bare", range(&ratios));
    line("… in 0.9–1.1", share(&ratios, is_close));
    let error = |report: &Report| Some(report.root()?.total_error / report.ticks_per_ns);
    let errors = compare(&|report, bare| Some(error(report)? / bare));
    line("root's stated error ÷ bare", range(&errors));
    let off = compare(&|report, bare| Some((net(report)? - bare).abs() / error(report)?));
    line("… covers the bare time", share(&off, |off| off <= 1.0));
    let worst = reports(runs)
        .filter_map(|report| {
            let own: f64 = report.rows.iter().map(|row| row.own).sum();
            Some((own / report.root()?.total - 1.0).abs())
        })
        .fold(0.0, f64::max);
    line("Σ self ÷ root's net", format!("1 ± {worst:.5}"));
}

/// Compares the largest rows with programs in which only the row's function is annotated.
fn print_rows(
    program: &Program,
    source: &Path,
    scratch: &Path,
    runs: &[Compared],
) -> io::Result<()> {
    let Some(report) = reports(runs).next() else {
        return Ok(());
    };
    let mut largest: Vec<&Row> = report
        .rows
        .iter()
        .filter(|row| row.name != "root")
        .collect();
    largest.sort_by(|one, other| other.total.total_cmp(&one.total));
    println!(
        "\n| largest rows | calls | mean where it alone is annotated, ticks | mean of all runs | covered by its error |\n|---|---|---|---|---|"
    );
    for row in largest.into_iter().take(LARGEST) {
        let form = Form::Only(row.place.clone());
        let (alone, _) = build(program, source, scratch, "alone", &form)?;
        let truths: io::Result<Vec<Run>> = (0..3).map(|_| run(&alone)).collect();
        let truth: Vec<f64> = truths?
            .iter()
            .filter_map(|run| run.report.as_ref()?.rows.first().map(per_call))
            .collect();
        if truth.is_empty() {
            continue;
        }
        let truth = median(truth);
        let rows: Vec<&Row> = reports(runs)
            .filter_map(|report| report.rows.iter().find(|other| other.place == row.place))
            .collect();
        let mean = median(rows.iter().map(|row| per_call(row)).collect());
        let off: Vec<f64> = rows
            .iter()
            .map(|row| (per_call(row) - truth).abs() * row.calls as f64 / row.total_error)
            .collect();
        let covered = share(&off, |off| off <= 1.0);
        println!(
            "| {} | {} | {truth:.1} | {mean:.1} | {covered} |",
            row.name, row.calls
        );
    }
    Ok(())
}

/// Inclusive ticks per call.
fn per_call(row: &Row) -> f64 {
    row.total / row.calls.max(1) as f64
}
