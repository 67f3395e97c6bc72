//! Calls of an empty function, one after the other.

use tsc_runtime::calibration;

use crate::subjects::{
    annotated, annotated_none, bare, lfence_pair, rdtsc_pair, standard_pair, ticks_per_call,
};
use overhead::table::{heading, median, quartiles, row};

const ROUNDS: usize = 401;
const CALLS: u32 = 5_000;

type Subject = (&'static str, fn(u64) -> u64);

const SUBJECTS: [Subject; 6] = [
    ("no reads", bare),
    (
        "lfence; rdtsc; lfence … rdtscp; lfence, records nothing (A)",
        standard_pair,
    ),
    (
        "lfence; rdtsc; lfence … lfence; rdtsc, records nothing",
        lfence_pair,
    ),
    ("rdtsc … rdtsc, records nothing (B)", rdtsc_pair),
    ("`#[cycles]`", annotated),
    ("`#[cycles(fence = \"none\")]`", annotated_none),
];

pub(crate) fn run() {
    let hz = calibration::rate().map_or(f64::NAN, |rate| rate.hz());
    let rounds: Vec<[f64; SUBJECTS.len()]> = (0..ROUNDS)
        .map(|_| SUBJECTS.map(|(_, function)| ticks_per_call(function, CALLS)))
        .collect();
    heading(
        "An empty function, one thread",
        &["what", "ticks/call", "ns/call", "÷ A (quartiles)", "÷ B"],
    );
    for (index, (name, _)) in SUBJECTS.iter().enumerate() {
        let ticks = median(rounds.iter().map(|round| round[index]).collect());
        let [low, middle, high] =
            quartiles(rounds.iter().map(|round| round[index] / round[1]).collect());
        let to_bare_pair = median(rounds.iter().map(|round| round[index] / round[3]).collect());
        row(&[
            (*name).to_owned(),
            format!("{ticks:.1}"),
            format!("{:.1}", ticks / hz * 1e9),
            format!("{middle:.3} ({low:.3}–{high:.3})"),
            format!("{to_bare_pair:.3}"),
        ]);
    }
}
