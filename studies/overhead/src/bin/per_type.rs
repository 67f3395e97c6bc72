//! `cargo run --release --manifest-path studies/overhead/Cargo.toml --bin per_type` compares the cost of a call of one of 5041
//! instantiations with that of one of five.
//!
//! Both functions are measured with `per_type`. Rounds of calls of one instantiation take turns, and are timed in nanoseconds per call.
//! The median of the rounds' ratios must be below 1.2.

use std::hint::black_box;
use std::time::Instant;

use overhead::table::median;
use tsc_runtime::cycles;

/// A type for each pair of numbers.
struct Pair<const A: usize, const B: usize>;

#[cycles(per_type)]
fn one_of_many<T>(value: u64) -> u64 {
    value + size_of::<T>() as u64
}

#[cycles(per_type)]
fn one_of_few<T>(value: u64) -> u64 {
    value + size_of::<T>() as u64
}

type Function = fn(u64) -> u64;

// Input:  many!([0 1] [0 1])
// Output: [[one_of_many::<Pair<0, 0>>, one_of_many::<Pair<0, 1>>], [one_of_many::<Pair<1, 0>>, …]]
macro_rules! many {
    ([$($a:literal)*] $bs:tt) => { [$(many!(@ $a $bs)),*] };
    (@ $a:literal [$($b:literal)*]) => { [$(one_of_many::<Pair<$a, $b>> as Function),*] };
}

macro_rules! square {
    ($($n:literal)*) => { many!([$($n)*] [$($n)*]) };
}

static MANY: [[Function; 71]; 71] = square!(
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35
    36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70
);

const FEW: [Function; 5] = [
    one_of_few::<u8>,
    one_of_few::<u16>,
    one_of_few::<u32>,
    one_of_few::<u64>,
    one_of_few::<u128>,
];

const CALLS: u32 = 1000;
const ROUNDS: usize = 2000;

fn ns_a_call(function: Function) -> f64 {
    let function = black_box(function);
    function(0);
    let start = Instant::now();
    let mut value = 0;
    for _ in 0..CALLS {
        value = function(value);
    }
    black_box(value);
    start.elapsed().as_nanos() as f64 / f64::from(CALLS)
}

fn main() {
    let many = MANY.as_flattened();
    many.iter().chain(&FEW).for_each(|function| _ = function(0));
    let mut rounds = [Vec::new(), Vec::new(), Vec::new()];
    for round in 0..ROUNDS {
        // Each round uses another instantiation, in no regular order.
        let (of_many, of_few) = (
            ns_a_call(many[round * 2_654_435 % many.len()]),
            ns_a_call(FEW[round % FEW.len()]),
        );
        for (values, value) in rounds.iter_mut().zip([of_many, of_few, of_many / of_few]) {
            values.push(value);
        }
    }
    let [of_many, of_few, ratio] = rounds.map(median);
    println!("| instantiations | ns a call |\n|---|---|");
    println!(
        "| {} | {of_many:.1} |\n| {} | {of_few:.1} |",
        many.len(),
        FEW.len()
    );
    println!(
        "\nratio {ratio:.3}: {}",
        if ratio < 1.2 {
            "holds"
        } else {
            "does not hold"
        }
    );
    // The report would have thousands of rows, so do not print it.
    tsc_runtime::reset();
    std::process::exit(i32::from(ratio >= 1.2));
}
