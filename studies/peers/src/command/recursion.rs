//! Every call of a recursive fib(20).

use super::roster::Kind;
use super::rounds::Rounds;
use super::spread::{cell, median};

pub(crate) fn print(all: &[Rounds]) {
    println!("### Recursion: fib(20)\n");
    println!(
        "Each of its 21 891 calls annotated; ns a call; calls in the report for each that was made.\n"
    );
    println!("| | ns a call | ÷ floor | told |");
    println!("|---|---|---|---|");
    for rounds in all
        .iter()
        .filter(|rounds| rounds.contestant.kind != Kind::Slow)
    {
        if let Some(row) = rounds.failed(3) {
            println!("{row}");
            continue;
        }
        let own = cell(rounds.figure("own"), 1);
        println!(
            "| {} | {own} | {} | {} |",
            rounds.contestant.label,
            cell(rounds.ratio("own", "floor"), 2),
            median(rounds.figure("told"), 2),
        );
    }
    println!();
}
