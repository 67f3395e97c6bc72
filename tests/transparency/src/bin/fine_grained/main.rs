//! Programs whose functions take a few nanoseconds, with every function annotated: are the figures correct, and what do they cost?
//!
//! `cargo run --release --manifest-path tests/transparency/Cargo.toml --bin fine_grained [RUNS [PROGRAM…]]` fetches the programs' crates
//! from the public registry, builds them bare and annotated, runs both in turns (20 times by default) and prints a table.

#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::path::Path;
use std::{env, io};

use transparency::programs::run::{Report, Row, Run, run};
use transparency::programs::statistics::{median, range, share, spearman};
use transparency::programs::{FURTHER, Form, PROGRAMS, Program, build, callgrind};
use transparency::{cargo, fetch};

const RUNS: usize = 20;
/// Runs with every call timed, for each other run.
const EVERY_CALL: usize = 2;
/// Rows whose means are compared with those of a program in which only that row's function is annotated.
const LARGEST: usize = 10;
/// Rows below this share of all self ticks are not ranked.
const RANKED: f64 = 0.01;

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
    bare: Vec<Run>,
    /// Bare, but no function that would be annotated is inlined.
    not_inlined: Vec<Run>,
    every_call: Vec<Compared>,
    auto: Vec<Compared>,
    /// Nearly all calls are only counted.
    counted: Vec<Compared>,
}

/// A run of the annotated program, and the mean CPU time of the bare program just before and after it, in ns.
struct Compared {
    run: Run,
    bare: f64,
}

impl Runs {
    /// Runs the annotated program between the last run of the bare program and a further one.
    fn compare(
        &mut self,
        bare: &Path,
        annotated: &Path,
        sample: Option<&str>,
    ) -> io::Result<Compared> {
        let run_before = self.bare.last().map(|run| run.took);
        let between = run(annotated, sample)?;
        let after = run(bare, None)?;
        let mean = f64::midpoint(run_before.unwrap_or(after.took), after.took);
        self.bare.push(after);
        Ok(Compared {
            run: between,
            bare: mean,
        })
    }

    /// Whether all runs computed the same.
    fn agree(&self) -> bool {
        let annotated = self
            .every_call
            .iter()
            .chain(&self.auto)
            .chain(&self.counted);
        let mut all = annotated
            .map(|compared| &compared.run)
            .chain(&self.bare)
            .chain(&self.not_inlined);
        let Some(first) = all.next() else { return true };
        all.all(|run| run.outcome == first.outcome)
    }
}

fn measure(program: &Program, runs: usize, scratch: &Path) -> io::Result<()> {
    let (version, source) = fetch::newest(program.name, scratch)?;
    let (bare, _) = build(program, &source, scratch, "bare", &Form::Bare)?;
    let (not_inlined, _) = build(program, &source, scratch, "not_inlined", &Form::NotInlined)?;
    let (annotated, attributes) = build(program, &source, scratch, "all", &Form::All)?;
    let mut of = Runs::default();
    of.bare.push(run(&bare, None)?);
    for _ in 0..runs {
        of.not_inlined.push(run(&not_inlined, None)?);
        for _ in 0..EVERY_CALL {
            let compared = of.compare(&bare, &annotated, None)?;
            of.every_call.push(compared);
        }
        let compared = of.compare(&bare, &annotated, Some("auto"))?;
        of.auto.push(compared);
        let compared = of.compare(&bare, &annotated, Some("4096"))?;
        of.counted.push(compared);
    }
    if !of.agree() {
        return Err(io::Error::other(
            "the annotated program computes something else",
        ));
    }
    let milliseconds =
        |runs: &[Run]| range(&runs.iter().map(|run| run.took / 1e6).collect::<Vec<_>>());
    println!(
        "\n## {}: {} {version}, {attributes} functions annotated\n\n| | every call | `TSC_SAMPLE=auto` | `TSC_SAMPLE=4096` |\n|---|---|---|---|",
        program.kind, program.name
    );
    println!("| bare, ms of CPU | {} | | |", milliseconds(&of.bare));
    println!(
        "| … if nothing that is annotated is inlined | {} | | |",
        milliseconds(&of.not_inlined)
    );
    print_noise(&of.bare);
    print_totals(&of);
    print_rows(program, &source, scratch, &of)?;
    print_ranks(&not_inlined, &of)
}

fn reports(runs: &[Compared]) -> impl Iterator<Item = &Report> {
    runs.iter()
        .filter_map(|compared| compared.run.report.as_ref())
}

/// The root's net time, in ns. It is time on the CPU, so other processes do not change it much.
fn net(report: &Report) -> Option<f64> {
    Some(report.root()?.total / report.ticks_per_ns)
}

/// What the machine alone does to the comparison: a bare run, compared in the same way with the bare runs before and after it.
fn print_noise(bare: &[Run]) {
    let compare = |runs: &[Run]| match runs {
        [before, run, after] => Some(run.took / f64::midpoint(before.took, after.took)),
        _ => None,
    };
    let ratios: Vec<f64> = bare.windows(3).step_by(2).filter_map(compare).collect();
    println!("| … ÷ the bare runs around it | {} | | |", range(&ratios));
    println!("| … in 0.9–1.1 | {} | | |", share(&ratios, is_close));
}

fn is_close(ratio: f64) -> bool {
    (0.9..=1.1).contains(&ratio)
}

fn print_totals(of: &Runs) {
    let columns = |name: &str, cell: &dyn Fn(&[Compared]) -> String| {
        println!(
            "| {name} | {} | {} | {} |",
            cell(&of.every_call),
            cell(&of.auto),
            cell(&of.counted)
        );
    };
    let counts = |report: &Report| -> Vec<(String, u32, u64)> {
        let mut rows: Vec<_> = report
            .rows
            .iter()
            .map(|row| (row.place.file.clone(), row.place.line, row.calls))
            .collect();
        rows.sort();
        rows
    };
    let expected = reports(&of.every_call).next().map(counts);
    columns("million calls", &|runs| {
        reports(runs).next().map_or_else(String::new, |report| {
            format!("{:.2}", report.calls() as f64 / 1e6)
        })
    });
    columns("runs with the same counts in every row", &|runs| {
        let same = reports(runs).filter(|report| Some(counts(report)) == expected);
        format!("{} of {}", same.count(), runs.len())
    });
    // `figure` of each report, with the bare time beside it.
    let compare = |runs: &[Compared], figure: &dyn Fn(&Report, f64) -> Option<f64>| -> Vec<f64> {
        let figure = |compared: &Compared| figure(compared.run.report.as_ref()?, compared.bare);
        runs.iter().filter_map(figure).collect()
    };
    columns("slowdown", &|runs| {
        let slowdown = |compared: &Compared| compared.run.took / compared.bare;
        range(&runs.iter().map(slowdown).collect::<Vec<_>>())
    });
    columns("ns a call more than bare", &|runs| {
        let more = |compared: &Compared| {
            let calls = compared.run.report.as_ref()?.calls();
            Some((compared.run.took - compared.bare) / calls as f64)
        };
        range(&runs.iter().filter_map(more).collect::<Vec<_>>())
    });
    columns("calibrated cost of a timed call, ticks", &|runs| {
        range(
            &reports(runs)
                .map(|report| report.timed_ticks)
                .collect::<Vec<_>>(),
        )
    });
    columns("calibrated cost of a counted call, ticks", &|runs| {
        range(
            &reports(runs)
                .map(|report| report.counted_ticks)
                .collect::<Vec<_>>(),
        )
    });
    columns(
        "cost of a timed call above that, as the report states it, ticks",
        &|runs| {
            range(
                &reports(runs)
                    .map(|report| report.in_place_ticks)
                    .collect::<Vec<_>>(),
            )
        },
    );
    columns(
        "cost of a call in place above the calibrated, ticks",
        &|runs| {
            range(&compare(runs, &|report, bare| {
                Some((net(report)? - bare) * report.ticks_per_ns / report.calls() as f64)
            }))
        },
    );
    let ratios = |runs: &[Compared]| compare(runs, &|report, bare| Some(net(report)? / bare));
    columns("root's net ÷ bare", &|runs| range(&ratios(runs)));
    columns("… in 0.9–1.1", &|runs| share(&ratios(runs), is_close));
    let error = |report: &Report| Some(report.root()?.total_error / report.ticks_per_ns);
    columns("root's stated error ÷ bare", &|runs| {
        range(&compare(runs, &|report, bare| Some(error(report)? / bare)))
    });
    columns("… covers the bare time", &|runs| {
        let off = compare(runs, &|report, bare| {
            Some((net(report)? - bare).abs() / error(report)?)
        });
        share(&off, |off| off <= 1.0)
    });
    columns("Σ self ÷ root's net", &|runs| {
        let sums = reports(runs).filter_map(|report| {
            let own: f64 = report.rows.iter().map(|row| row.own).sum();
            Some(own / report.root()?.total)
        });
        let sums: Vec<f64> = sums.collect();
        let worst = sums
            .iter()
            .fold(0.0_f64, |worst, sum| worst.max((sum - 1.0).abs()));
        format!("1 ± {worst:.5}")
    });
    columns("rows with self exactly 0", &|runs| {
        let zeros = reports(runs)
            .map(|report| report.rows.iter().filter(|row| row.own == 0.0).count() as f64);
        range(&zeros.collect::<Vec<_>>())
    });
}

/// Compares the largest rows with programs in which only the row's function is annotated.
fn print_rows(program: &Program, source: &Path, scratch: &Path, of: &Runs) -> io::Result<()> {
    let Some(report) = reports(&of.auto).next() else {
        return Ok(());
    };
    let mut largest: Vec<&Row> = report
        .rows
        .iter()
        .filter(|row| row.name != "root")
        .collect();
    largest.sort_by(|one, other| other.total.total_cmp(&one.total));
    println!(
        "\n| largest rows | calls | mean where it alone is annotated, ticks | every call, mean of all runs | covered by its error | auto, mean of all runs | covered |\n|---|---|---|---|---|---|---|"
    );
    for row in largest.into_iter().take(LARGEST) {
        let form = Form::Only(row.place.clone());
        let (alone, _) = build(program, source, scratch, "alone", &form)?;
        let truths: io::Result<Vec<Run>> = (0..3).map(|_| run(&alone, None)).collect();
        let truth: Vec<f64> = truths?
            .iter()
            .filter_map(|run| run.report.as_ref()?.rows.first().map(per_call))
            .collect();
        if truth.is_empty() {
            continue;
        }
        let truth = median(truth);
        let cells = |runs: &[Compared]| {
            let rows: Vec<&Row> = reports(runs)
                .filter_map(|report| report.rows.iter().find(|other| other.place == row.place))
                .collect();
            let means = rows.iter().map(|row| per_call(row)).collect();
            let off: Vec<f64> = rows
                .iter()
                .map(|row| (per_call(row) - truth).abs() * row.calls as f64 / row.total_error)
                .collect();
            (median(means), share(&off, |off| off <= 1.0))
        };
        let (every, every_covered) = cells(&of.every_call);
        let (auto, auto_covered) = cells(&of.auto);
        println!(
            "| {} | {} | {truth:.1} | {every:.1} | {every_covered} | {auto:.1} | {auto_covered} |",
            row.name, row.calls
        );
    }
    Ok(())
}

/// Inclusive ticks per call.
fn per_call(row: &Row) -> f64 {
    row.total / row.calls.max(1) as f64
}

/// Compares self ticks with instructions.
fn print_ranks(not_inlined: &Path, of: &Runs) -> io::Result<()> {
    for (name, runs) in [("every call", &of.every_call), ("auto", &of.auto)] {
        let mut ticks: HashMap<String, Vec<f64>> = HashMap::new();
        for report in reports(runs) {
            let mut sums: HashMap<String, f64> = HashMap::new();
            for row in report.rows.iter().filter(|row| row.name != "root") {
                *sums.entry(callgrind::short(&row.path())).or_default() += row.own;
            }
            for (name, sum) in sums {
                ticks.entry(name).or_default().push(sum);
            }
        }
        let ticks: HashMap<String, f64> = ticks
            .into_iter()
            .map(|(name, sums)| (name, median(sums)))
            .collect();
        let is_row = |name: &str| ticks.contains_key(name);
        let counted = callgrind::instructions(not_inlined, &[], callgrind::demangled, is_row);
        let instructions = match counted {
            Ok(instructions) => instructions,
            Err(error) => {
                println!("\ncallgrind: {error}");
                return Ok(());
            }
        };
        let sum: f64 = ticks.values().sum();
        let mut pairs: Vec<(&str, f64, f64)> = ticks
            .iter()
            .filter(|&(_, &ticks)| ticks > RANKED * sum)
            .filter_map(|(name, &ticks)| Some((&**name, ticks, *instructions.get(name)?)))
            .collect();
        pairs.sort_by(|one, other| other.2.total_cmp(&one.2));
        let ranked: Vec<(f64, f64)> = pairs.iter().map(|pair| (pair.1, pair.2)).collect();
        println!(
            "\nSpearman, self ticks ({name}) against callgrind's instructions, {} rows: {:.3}\n",
            ranked.len(),
            spearman(&ranked)
        );
        println!("| self | % of ticks | instructions | ticks/instruction |\n|---|---|---|---|");
        for (name, ticks, instructions) in pairs {
            println!(
                "| {name} | {:.1} | {instructions:.0} | {:.2} |",
                ticks / sum * 100.0,
                ticks / instructions
            );
        }
    }
    Ok(())
}
