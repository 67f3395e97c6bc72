//! Does `cargo tsc ab` find a slowdown of 3 % in one function of a real program, and does it say nothing where nothing changed?
//!
//! `cargo run --release -p transparency --bin planted [TRIES [PAIRS [PROGRAM…]]]` makes a repository of each of six crates, or of
//! those that are named, with `#[cycles]` on some of their functions. In the revision `slowed`, a chain of multiplications in one of them is
//! longer, so that it takes 3 % more. The revisions `moved` differ from the first in the order of their functions and in unused code alone.
//! `ab` compares them, ten runs a side: `slowed` one side after the other and as a duet, ten tries each by default, and five `moved`
//! revisions of each program. With `again` in front of the numbers, the runs that were kept are judged once more.

#![forbid(unsafe_code)]

mod moved;
mod program;
mod sessions;
mod statistics;
mod verdicts;

use std::process::ExitCode;
use std::{env, io};

use transparency::cargo;

use program::{PROGRAMS, Program, Repository};
use sessions::Sessions;
use statistics::Table;
use verdicts::Count;

/// Compares `slowed` one side after the other, and both sides at once on two CPUs.
const WAYS: [(&str, &str); 2] = [("turns", "--no-duet"), ("duet", "--duet")];
const TRIES: u64 = 10;
const PAIRS: u64 = 5;
/// Runs a side in a comparison.
const RUNS: u64 = 10;
/// The slowdown, as a share of the function's own time.
const PLANTED: f64 = 0.03;

fn main() -> io::Result<ExitCode> {
    let mut words = env::args().skip(1).peekable();
    let is_again = words.next_if_eq("again").is_some();
    let mut number = |default| {
        words
            .next()
            .and_then(|word| word.parse().ok())
            .unwrap_or(default)
    };
    let (tries, pairs) = (number(TRIES), number(PAIRS));
    let named: Vec<String> = words.collect();
    let is_wanted =
        |program: &&Program| named.is_empty() || named.iter().any(|name| name == program.name);
    let programs: Vec<&Program> = PROGRAMS.iter().filter(is_wanted).collect();
    let scratch = cargo::scratch("planted")?;
    let tool = cargo::install(&scratch)?;
    let mut tables = WAYS.map(|_| Table::default());
    let mut moved = Count::default();
    let mut is_well = true;
    println!(
        "| program, 3 % in | | tries | named | not resolved | ratio, median | would be seen, median | others named, of their verdicts |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for &program in &programs {
        let repository = match is_again {
            true => Repository::kept(program, &scratch),
            false => Repository::make(program, &scratch)?,
        };
        if !is_again {
            repository.commit_slowed(repository.calibrate(PLANTED)?)?;
        }
        for (way, table) in WAYS.iter().zip(&mut tables) {
            if !is_again {
                Sessions::measure(&tool, &repository, "slowed", tries * RUNS, *way)?;
            }
            let all = Sessions::named(&repository, way.0);
            let mut count = Count::default();
            for part in 0..tries {
                let part = all.part(part * RUNS..(part + 1) * RUNS)?;
                count.add(&part.diff(&tool)?, Some(program.slowed));
                table.add(&part, program.slowed)?;
            }
            let name = format!("{}, `{}` | {}", program.name, program.slowed, way.0);
            println!("| {name} | {count} |");
            is_well &= count.is_well();
        }
        for pair in 0..pairs {
            let name = format!("moved-{pair}");
            if !is_again {
                repository.commit_moved(pair)?;
                Sessions::measure(&tool, &repository, "moved", RUNS, (&name, "--no-duet"))?;
            }
            let sessions = Sessions::named(&repository, &name);
            moved.add(&sessions.diff(&tool)?, None);
        }
    }
    println!(
        "\n{} pairs that differ in the order of functions and unused code: {} of {} rows named\n",
        pairs * programs.len() as u64,
        moved.others_named,
        moved.others
    );
    println!(
        "| statistic of the slowed function | in turns: standard error, median | found | duet: standard error, median | found |"
    );
    println!("|---|---|---|---|---|");
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
