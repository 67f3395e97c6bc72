//! Ten million calls.

use super::rounds::Rounds;
use super::spread::{cell, median};

pub(crate) fn print(all: &[Rounds]) {
    println!("### Ten million calls\n");
    println!(
        "ns a call by the clock; all in: CPU time of the whole process until the report is there, background threads and flushes \
         counted, in ns a call; memory that each call left resident, in bytes; the process's peak, in MiB; calls that were made and \
         are in no report; time to the report after the last call, in ms. `cpuid` made a hundredth of the calls.\n"
    );
    println!("| | ns a call | ÷ floor | all in | bytes a call | peak | lost | report |");
    println!("|---|---|---|---|---|---|---|---|");
    for rounds in all {
        if let Some(row) = rounds.failed(7) {
            println!("{row}");
            continue;
        }
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            rounds.contestant.label,
            cell(rounds.figure("wall"), 1),
            cell(rounds.ratio("wall", "floor"), 2),
            cell(rounds.figure("cpu"), 1),
            median(rounds.figure("grown"), 1),
            median(rounds.spread(|of| Some(of("peak")? / 1024.0 / 1024.0)), 0),
            median(rounds.figure("lost"), 0),
            median(rounds.spread(|of| Some(of("report")? * 1e3)), 1),
        );
    }
    println!();
}
