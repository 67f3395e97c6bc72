//! Two threads on one callsite.

use super::rounds::Rounds;
use super::spread::cell;

pub(crate) fn print(all: &[Rounds]) {
    println!("### Two threads that call one function\n");
    println!(
        "ns that a call takes its thread. The last column is the same of the floor, which shares nothing: what the machine adds.\n"
    );
    println!("| | one thread | two threads | two ÷ one | floor, two ÷ one |");
    println!("|---|---|---|---|---|");
    for rounds in all {
        if let Some(row) = rounds.failed(4) {
            println!("{row}");
            continue;
        }
        println!(
            "| {} | {} | {} | {} | {} |",
            rounds.contestant.label,
            cell(rounds.figure("one"), 1),
            cell(rounds.figure("two"), 1),
            cell(rounds.ratio("two", "one"), 2),
            cell(rounds.ratio("floor_two", "floor"), 2),
        );
    }
    println!();
}
