//! A program whose functions have names of every kind; `text.rs` checks its dump.

use tsc_runtime::cycles;

#[cycles]
fn short() {
    std::hint::black_box(1);
}

#[cycles(name = "a name of more than fifty bytes, of which the dump shows fifty: one")]
fn long_one() {}

#[cycles(name = "a name of more than fifty bytes, of which the dump shows fifty: two")]
fn long_two() {}

#[cycles(name = "controls \x1b[2J\x07 and\nbreaks\r\tand\u{202e}right to left\u{200b}")]
fn controls() {}

#[cycles(name = "четыре 🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀 четыре")]
fn wide() {}

#[cycles(name = "same")]
fn same_here() {}

mod inner {
    #[tsc_runtime::cycles(name = "same")]
    pub(super) fn same_there() {}
}

#[cycles]
fn slow() {
    for _ in 0..20 {
        short();
    }
    std::hint::black_box((0..20_000).fold(7_u64, |sum, number| sum.rotate_left(1) ^ number));
}

#[cycles(name = "now fast, now slow")]
fn bimodal(turn: u64) -> u64 {
    let turns = if turn.is_multiple_of(10) { 50_000 } else { 100 };
    (0..turns).fold(turn, |sum, number| std::hint::black_box(sum ^ number))
}

fn main() {
    for turn in 0..200 {
        short();
        bimodal(turn);
    }
    for _ in 0..3 {
        long_one();
        long_two();
        controls();
        wide();
        same_here();
        inner::same_there();
        slow();
    }
}
