//! Are the stated errors of self ticks true? How often they cover the truth, and how much larger they are than what is seen. Where the truth is
//! another run, it is measured before the report's run and after it.
//!
//! `cargo run --release --manifest-path studies/transparency/Cargo.toml --bin errors -- [--rows FILE] [RUNS [PROGRAM…]]` builds the example `hotspots`, a
//! program with a known call tree (`known_tree`) and the programs of `fine_grained`, runs each 5 times by default, quiet and beside four busy
//! threads, and prints a table for each program and the sum. With `--rows FILE` as first arguments, the file has a line of JSON for each row: its
//! self ticks, their stated error, the truth, and what the report says of it, so that other rules can be tried on the same rows. Linux only;
//! `perf` is in Debian's package `linux-perf`.

#![forbid(unsafe_code)]

use std::{env, fs, io};

use serde_json::Value;
use transparency::cargo;
use transparency::programs::{PROGRAMS, profile};

mod between;
mod busy;
mod hotspots;
mod known_tree;
mod light;
mod report;
mod rows;
mod tally;

use busy::Busy;
use rows::Rows;
use tally::Tally;

const RUNS: usize = 5;
/// The numbers of threads beside the programs.
const LOADS: [usize; 2] = [0, 4];

/// A row of a report: its self ticks, their stated error, and what they truly are.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) own: f64,
    pub(crate) error: f64,
    pub(crate) truth: f64,
    /// What the report says of it and of the clock.
    pub(crate) said: Value,
}

fn main() -> io::Result<()> {
    let mut arguments = env::args().skip(1).peekable();
    let mut rows = Rows::from_arguments(&mut arguments)?;
    let runs = arguments.next().and_then(|runs| runs.parse().ok());
    let runs = runs.unwrap_or(RUNS);
    let programs: Vec<String> = arguments.collect();
    let is_wanted = |name: &str| programs.is_empty() || programs.iter().any(|one| one == name);
    let known = PROGRAMS.iter().map(|program| program.name);
    let known: Vec<&str> = known.chain(["hotspots", "known_tree"]).collect();
    if let Some(unknown) = programs.iter().find(|one| !known.contains(&one.as_str())) {
        let said = format!("{unknown} is none of {}", known.join(", "));
        return Err(io::Error::other(said));
    }
    profile::check()?;
    let scratch = cargo::scratch("errors")?;
    fs::create_dir_all(&scratch)?;
    let hotspots = is_wanted("hotspots").then(|| hotspots::Forms::build(&scratch));
    let hotspots = hotspots.transpose()?;
    let light = light::build(&scratch, is_wanted)?;
    let mut all = Tally::default();
    for threads in LOADS {
        let _busy = Busy::start(threads);
        println!("\n## Beside {threads} busy threads, {runs} runs\n");
        let mut of_load = Tally::default();
        let mut add = |program: &str, measured: Vec<Row>| {
            of_load.add(program, &measured);
            rows.write(threads, program, &measured)
        };
        if let Some(hotspots) = &hotspots {
            add("hotspots", hotspots.measure(runs)?)?;
        }
        if is_wanted("known_tree") {
            add("known_tree", known_tree::measure(runs, &scratch)?)?;
        }
        for program in &light {
            add(program.name, program.measure(runs)?)?;
        }
        of_load.print();
        all.append(of_load);
    }
    println!("\n## In all\n");
    all.print_sum();
    Ok(())
}
