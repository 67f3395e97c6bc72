//! Does `cargo tsc diff` find a slowdown of 3 % in one function of a real program, and does it report nothing if nothing changed?
//!
//! `cargo run --release --manifest-path studies/transparency/Cargo.toml --bin planted [TRIES [RUNS]]` uses pulldown-cmark with `#[cycles]`
//! on some of its functions. One of them first runs an idle loop, as long as an environment variable says: as usual, or so much longer that
//! the function takes 3 % more. Both sides are the same executable, so that nothing else can differ. A try is ten runs per side (by default)
//! in turns: without slowdown, with slowdown, and without it once more. There are forty tries by default.

#![forbid(unsafe_code)]

mod program;
mod sides;
mod statistics;
mod verdicts;

use std::process::ExitCode;
use std::{env, io};

use transparency::cargo;

use program::{Program, SLOWED, USUAL};
use sides::{Side, take_turns};
use statistics::Table;
use verdicts::{Count, diff};

const TRIES: u64 = 40;
const RUNS: u64 = 10;
/// The slowdown, as a share of the function's own time.
const PLANTED: f64 = 0.03;

fn main() -> io::Result<ExitCode> {
    let mut numbers = env::args().skip(1).map(|word| word.parse::<u64>());
    let mut number = |default| numbers.next().and_then(Result::ok).unwrap_or(default);
    let (tries, runs) = (number(TRIES), number(RUNS));
    let scratch = cargo::scratch("planted")?;
    let tool = cargo::install(&scratch)?;
    let program = Program::build(&scratch)?;
    let rounds = program.rounds(PLANTED, &scratch)?;
    println!("{rounds} more rounds are {PLANTED} of {SLOWED}\n");
    let (mut in_turns, mut blocks) = (Outcomes::default(), Outcomes::default());
    let mut table = Table::default();
    let mut rows = 1;
    for attempt in 0..tries {
        let folder = scratch.join(format!("try{attempt}"));
        let mut sides = [
            Side::new(&folder, "before", USUAL),
            Side::new(&folder, "slowed", USUAL + rounds),
            Side::new(&folder, "again", USUAL),
        ];
        take_turns(&program, &mut sides, runs, attempt)?;
        table.add(&sides[0].folder, &sides[1].folder)?;
        // Compare the runs in both ways: pair by pair, and as two unordered sets.
        for (paired, outcomes) in [(true, &mut in_turns), (false, &mut blocks)] {
            let [before, slowed, again] = &sides;
            let verdicts = diff(&tool, before, slowed, paired)?;
            rows = verdicts.len();
            outcomes.slowed.add(&verdicts);
            outcomes.same.add(&diff(&tool, before, again, paired)?);
        }
        eprintln!("try {} of {tries}", attempt + 1);
    }
    println!(
        "| {runs} runs a side | tries | named slower | named faster | not resolved | called unchanged | ratio found, median | others named, of their verdicts | nothing changed: named, of all verdicts |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    in_turns.print("taking turns");
    blocks.print("as two heaps");
    table.print(rows as f64);
    let well = in_turns.are_well(tries);
    println!(
        "\nslower in at least 9 of 10 tries, and at most 1 of 20 verdicts on unchanged functions is wrong: {}",
        if well { "yes" } else { "no" }
    );
    Ok(if well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// With the slowdown and without.
#[derive(Default)]
struct Outcomes {
    slowed: Count,
    same: Count,
}

impl Outcomes {
    fn print(&self, how: &str) {
        let slowed = &self.slowed;
        let (named, judged) = self.same.false_alarms();
        println!(
            "| {how} | {} | {} | {} | {} | {} | {:.4} | {} of {} | {named} of {judged} |",
            slowed.tries,
            slowed.slower,
            slowed.faster,
            slowed.unresolved,
            slowed.unchanged,
            slowed.median_ratio(),
            slowed.others_named,
            slowed.others
        );
    }

    /// Other functions that are reported beside the slowed one are false alarms, as are all that are reported if nothing changed.
    fn are_well(&self, tries: u64) -> bool {
        let (named, judged) = self.same.false_alarms();
        let slowed = &self.slowed;
        slowed.slower * 10 >= tries * 9
            && named * 20 <= judged
            && slowed.others_named * 20 <= slowed.others
    }
}
