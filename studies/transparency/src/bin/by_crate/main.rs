//! Programs whose work is in other crates: does `cargo tsc run --all --with-deps` give each crate the share of the time that `perf` gives it?
//!
//! `cargo run --release --manifest-path studies/transparency/Cargo.toml --bin by_crate [--built] [-n RUNS] [PROGRAM…]` writes the programs
//! in `programs`, which use crates of the public registry, builds each in four forms (`--built`: uses those of the last time), runs these
//! in turns (3 times by default), and prints a table for each. Linux only; `perf` is in Debian's package `linux-perf`.

#![forbid(unsafe_code)]

mod forms;
mod samples;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::{env, fs, io};

use forms::Forms;
use serde_json::Value;
use transparency::cargo;
use transparency::programs::process::run_with_report;
use transparency::programs::profile;

const RUNS: u32 = 3;
/// Crates with a smaller share in all columns have no line, in %.
const SHOWN: f64 = 0.5;

/// Shares of the CPU time by crate, in %.
type Shares = BTreeMap<String, f64>;

struct Program {
    name: &'static str,
    text: &'static str,
}

const PROGRAMS: [Program; 5] = [
    Program {
        name: "archive",
        text: concat!(
            include_str!("programs/archive.rs"),
            include_str!("../../programs/texts/words.rs")
        ),
    },
    Program {
        name: "feed",
        text: include_str!("programs/feed.rs"),
    },
    Program {
        name: "page",
        text: include_str!("programs/page.rs"),
    },
    Program {
        name: "query",
        text: include_str!("programs/query.rs"),
    },
    Program {
        name: "search",
        text: concat!(
            include_str!("programs/search.rs"),
            include_str!("../../programs/texts/words.rs")
        ),
    },
];

fn main() -> io::Result<()> {
    let (mut built, mut runs, mut wanted) = (false, RUNS, Vec::new());
    let mut words = env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--built" => built = true,
            "-n" => runs = words.next().and_then(|n| n.parse().ok()).unwrap_or(RUNS),
            _ => wanted.push(word),
        }
    }
    profile::check()?;
    let scratch = cargo::scratch("by_crate")?;
    let tool = if built {
        scratch.clone()
    } else {
        cargo::install(&scratch)?
    };
    for program in &PROGRAMS {
        if !wanted.is_empty() && !wanted.iter().any(|name| name == program.name) {
            continue;
        }
        let folder = scratch.join(program.name);
        if !built {
            forms::build(program, &tool, &folder)?;
        }
        if runs > 0 {
            measure(program, &Forms::at(folder)?, runs)?;
        }
    }
    Ok(())
}

/// Runs all forms in turns, and prints the shares.
fn measure(program: &Program, forms: &Forms, runs: u32) -> io::Result<()> {
    const COLUMNS: [&str; 6] = [
        "bare, by inlined frame",
        "bare, by symbol",
        "not inlined, by inlined frame",
        "not inlined, by symbol",
        "first report",
        "report",
    ];
    let mut columns: [Shares; 6] = Default::default();
    for _ in 0..runs {
        let [bare, bare_symbols] = samples::shares(&forms.bare(), &forms.crates)?;
        let [inner, symbols] = samples::shares(&forms.not_inlined(), &forms.crates)?;
        let first = reported(forms, &forms.every())?;
        let last = reported(forms, &forms.chosen())?;
        for (sum, one) in columns
            .iter_mut()
            .zip([bare, bare_symbols, inner, symbols, first, last])
        {
            for (krate, share) in one {
                *sum.entry(krate).or_default() += share / f64::from(runs);
            }
        }
    }
    println!(
        "\n| {}, % | {} | first report − not inlined, by symbol | report − bare, by inlined frame |\n|---{}|",
        program.name,
        COLUMNS.join(" | "),
        "|---".repeat(COLUMNS.len() + 2)
    );
    let mut crates: Vec<&String> = columns
        .iter()
        .flat_map(Shares::keys)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let of = |column: usize, krate: &str| columns[column].get(krate).copied().unwrap_or(0.0);
    crates.retain(|krate| (0..columns.len()).any(|column| of(column, krate) > SHOWN));
    crates.sort_by(|a, b| of(3, b).total_cmp(&of(3, a)));
    for krate in crates {
        let cells: Vec<String> = (0..columns.len())
            .map(|column| format!("{:.1}", of(column, krate)))
            .collect();
        // In the first build, no function is inlined; in the last one, those are that are left out, which are the shortest.
        let [first, last] =
            [(4, 3), (5, 0)].map(|(this, other)| of(this, krate) - of(other, krate));
        println!(
            "| {krate} | {} | {first:+.1} | {last:+.1} |",
            cells.join(" | ")
        );
    }
    Ok(())
}

/// The shares in the report of one run.
fn reported(forms: &Forms, executable: &std::path::Path) -> io::Result<Shares> {
    let file = executable.with_extension("json");
    run_with_report(&mut Command::new(executable), &file)?;
    let report: Value = serde_json::from_str(&fs::read_to_string(&file)?)?;
    let mut shares = Shares::new();
    for row in report["callsites"].as_array().into_iter().flatten() {
        let ticks = |key: &str| row[key].as_f64();
        let own = ticks("self_on_cpu_ticks").or_else(|| ticks("self_ticks"));
        let file = row["file"].as_str().unwrap_or_default();
        let krate = forms.crates.of(file).unwrap_or_else(|| file.to_owned());
        *shares.entry(krate).or_default() += own.unwrap_or(0.0);
    }
    Ok(normalised(shares))
}

fn normalised(mut shares: Shares) -> Shares {
    let sum: f64 = shares.values().sum();
    shares.values_mut().for_each(|share| *share *= 100.0 / sum);
    shares
}
