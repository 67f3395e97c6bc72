//! Every call of a recursive fib(20).

use super::roster::Kind;
use super::rounds::Rounds;
use super::spread::cell;

pub(crate) fn print(all: &[Rounds]) {
    println!("### Recursion: fib(20)\n");
    println!("Each of its 21 891 calls annotated; ns a call.\n");
    println!("| | ns a call | ÷ floor |");
    println!("|---|---|---|");
    for rounds in all
        .iter()
        .filter(|rounds| rounds.contestant.kind != Kind::Slow)
    {
        let own = cell(rounds.figure("own"), 1);
        println!(
            "| {} | {own} | {} |",
            rounds.contestant.label,
            cell(rounds.ratio("own", "floor"), 2)
        );
    }
    println!();
}
