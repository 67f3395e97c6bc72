//! What a call costs in a series, and what the contestants report for functions whose time is known.

use super::roster::Kind;
use super::rounds::Rounds;
use super::spread::{cell, median};

pub(crate) fn print(all: &[Rounds]) {
    println!("### A call in a burst, and accuracy\n");
    println!(
        "A call of an empty function, in ns, with the loop that calls it. The reported means, in ns; off: reported minus true.\n"
    );
    println!("| | ns a call | ÷ floor | empty, reported | chain, reported | true | chain off |");
    println!("|---|---|---|---|---|---|---|");
    for rounds in all {
        if let Some(row) = rounds.failed(6) {
            println!("{row}");
            continue;
        }
        let own = [
            cell(rounds.figure("own"), 1),
            cell(rounds.ratio("own", "floor"), 2),
        ];
        row(rounds, rounds.contestant.label, &own, "empty", "chain");
        if matches!(rounds.contestant.kind, Kind::Ours | Kind::Slow) {
            row(
                rounds,
                "  — before correction",
                &[String::new(), String::new()],
                "raw_empty",
                "raw_chain",
            );
        }
    }
    println!();
}

fn row(rounds: &Rounds, label: &str, own: &[String], empty: &str, chain: &str) {
    println!(
        "| {label} | {} | {} | {} | {} | {} |",
        own.join(" | "),
        median(rounds.figure(empty), 1),
        median(rounds.figure(chain), 1),
        median(rounds.figure("truth"), 1),
        cell(rounds.spread(|of| Some(of(chain)? - of("truth")?)), 1),
    );
}
