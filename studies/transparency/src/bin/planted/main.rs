//! Does `cargo tsc ab` find a slowdown of 3 % in one function of a real program, and does it say nothing where nothing changed?
//!
//! `cargo run --release -p transparency --bin planted [-- OPTIONS [PROGRAM…]]` makes a repository of each of six crates, or of those that are
//! named, with `#[cycles]` on some of their functions. In the revision `slowed`, a chain of multiplications in one of them is longer, so that
//! it takes 3 % more: in the one with most of the time, among those that are called often and call no other measured one. The revisions
//! `moved` differ from the first in the order of their functions and in unused code alone. `ab` compares them, ten runs a side, beside two
//! threads that are always busy.
//!
//! - `--tries N`: how often `slowed` is compared, one side after the other and as a duet. 10 by default.
//! - `--pairs N`: how many `moved` revisions of each program. 5 by default.
//! - `--neighbours N`: how many other threads are busy. 2 by default.
//! - `--only turns|duet|moved`: leaves out the rest.
//! - `--kept`: uses the repositories that were made before.
//! - `--again`: measures nothing, and judges the runs that were kept once more.

#![forbid(unsafe_code)]

mod moved;
mod neighbours;
mod options;
mod program;
mod random;
mod sessions;
mod statistics;
mod verdicts;

use std::io;
use std::process::ExitCode;

use transparency::cargo;

use neighbours::Neighbours;
use options::Options;
use program::Repository;
use sessions::Sessions;
use statistics::Table;
use verdicts::Count;

/// Compares `slowed` one side after the other, and both sides at once on two CPUs.
const WAYS: [(&str, &str); 2] = [("turns", "--no-duet"), ("duet", "--duet")];
const MOVED: &str = "moved";
/// Runs a side in a comparison.
const RUNS: u64 = 10;
/// The slowdown, as a share of the function's own time.
const PLANTED: f64 = 0.03;

fn main() -> io::Result<ExitCode> {
    let options = Options::read()?;
    let scratch = cargo::scratch("planted")?;
    let tool = cargo::install(&scratch)?;
    let mut tables = Vec::new();
    let mut moved = Count::default();
    let mut is_well = true;
    println!(
        "| program, 3 % in | its share, calls | planted in the links | | load | tries | named | not resolved | ratio, median | would be seen, median | others named, of their verdicts |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for program in options.programs() {
        let repository = match options.again || options.kept {
            true => Repository::kept(program, &scratch)?,
            false => Repository::make(program, &scratch, &tool, PLANTED)?,
        };
        let neighbours = Neighbours::start(if options.again { 0 } else { options.neighbours });
        for way in WAYS.iter().filter(|way| options.includes(way.0)) {
            if !options.again {
                let runs = options.tries * RUNS;
                Sessions::measure(&tool, &repository, "slowed", runs, *way)?;
            }
            let all = Sessions::named(&repository, way.0);
            let mut count = Count::default();
            let mut table = Table::default();
            for part in 0..options.tries {
                let part = all.part(part * RUNS..(part + 1) * RUNS)?;
                count.add(&part.diff(&tool)?, Some(&repository.slowed));
                table.add(&part, &repository.slowed)?;
            }
            println!(
                "| {}, `{}` | {} | {} | {} | {} | {count} |",
                program.name,
                repository.slowed,
                all.weight(&repository.slowed)?,
                repository.planted,
                way.0,
                all.load()?
            );
            tables.push((format!("{}, {}", program.name, way.0), table));
            is_well &= count.is_well();
        }
        for pair in (0..options.pairs).filter(|_| options.includes(MOVED)) {
            let name = format!("{MOVED}-{pair}");
            if !options.again {
                repository.commit_moved(pair)?;
                Sessions::measure(&tool, &repository, MOVED, RUNS, (&name, "--no-duet"))?;
            }
            moved.add(&Sessions::named(&repository, &name).diff(&tool)?, None);
        }
        drop(neighbours);
    }
    if moved.others > 0 {
        println!(
            "\npairs that differ in the order of functions and unused code: {} of {} rows named",
            moved.others_named, moved.others
        );
    }
    Table::print(&tables);
    is_well &= moved.others_named <= 1;
    println!(
        "\nnamed in 9 of 10 tries, nothing else in 95 of 100 rows, at most one row of the moved ones: {}",
        if is_well { "yes" } else { "no" }
    );
    Ok(if is_well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
