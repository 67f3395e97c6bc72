//! Compares the cost of a call with and without recording the call tree. Also checks, in a program with a known call tree, whether each
//! context has the ticks of its work.
//!
//! `cargo run --release --manifest-path studies/overhead/Cargo.toml --bin tree`. A process can decide only once whether the tree is
//! recorded, so this program starts itself repeatedly, with and without `TSC_TREE` in turns, and compares the ticks of a call in pairs. It
//! prints a Markdown table, and fails if nothing was measured.

mod truth;

use std::env;
use std::hint::black_box;
use std::process::{Command, ExitCode};

use overhead::table::median;
use tsc_runtime::cycles;
use tsc_runtime::tsc::{FencePolicy, Lfence, elapsed};

const PAIRS: usize = 41;
/// The number of processes with a known call tree.
const TRUTHS: usize = 11;
/// The arguments with which this program starts itself.
const COST: &str = "--measure";
const TRUTH: &str = "--truth";
/// The argument with which `errors` starts this program.
const WORK: &str = "--work";
/// Enough rounds for most to be undisturbed, but fewer for subjects that take long.
const ROUNDS: usize = 201;
const LONG_ROUNDS: usize = 21;
const LONG: u64 = 10_000;

macro_rules! chain {
    ($name:ident) => {
        #[cycles]
        #[inline(never)]
        fn $name(value: u64) -> u64 {
            value + 1
        }
    };
    ($name:ident $next:ident $($rest:ident)*) => {
        #[cycles]
        #[inline(never)]
        fn $name(value: u64) -> u64 {
            $next(value) + 1
        }
        chain!($next $($rest)*);
    };
}

chain!(c0 c1 c2 c3 c4 c5 c6 c7);

#[cycles]
fn fib(n: u64) -> u64 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

/// A subject, and the number of calls that it makes.
type Subject = (&'static str, fn(), u64);

const SUBJECTS: [Subject; 3] = [
    ("chain of 8 functions", chain, 8 * 16),
    ("fib(20)", fibonacci, 21_891),
    ("chain of 8, on two threads", on_two_threads, 8 * 16),
];

fn chain() {
    for value in 0..16 {
        black_box(c0(black_box(value)));
    }
}

fn fibonacci() {
    black_box(fib(black_box(20)));
}

fn on_two_threads() {
    chain();
}

/// The least disturbed ticks of a call: the lower quartile of many rounds.
fn ticks_of_a_call(work: fn(), calls: u64) -> f64 {
    let count = if calls < LONG { ROUNDS } else { LONG_ROUNDS };
    let mut rounds: Vec<i64> = (0..count)
        .map(|_| {
            let start = Lfence::start();
            work();
            elapsed(start, Lfence::stop())
        })
        .collect();
    rounds.sort_unstable();
    rounds[count / 4] as f64 / calls as f64
}

/// Prints each subject's ticks.
fn measure() {
    for (index, (_, work, calls)) in SUBJECTS.into_iter().enumerate() {
        let other = (index == 2).then(|| std::thread::spawn(move || ticks_of_a_call(work, calls)));
        println!("{}", ticks_of_a_call(work, calls));
        if let Some(other) = other {
            other.join().expect("a loop does not panic");
        }
    }
    assert_eq!(
        env::var_os("TSC_TREE").is_some(),
        !tsc_runtime::snapshot().contexts().is_empty()
    );
}

/// The figures that this program prints with an argument.
fn child(argument: &str, with_tree: bool, count: usize) -> Option<Vec<f64>> {
    let mut command = Command::new(env::current_exe().ok()?);
    command.arg(argument).env("TSC_REPORT", "off");
    if with_tree {
        command.env("TSC_TREE", "1");
    } else {
        command.env_remove("TSC_TREE");
    }
    let output = command.output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let figures: Vec<f64> = text.lines().filter_map(|line| line.parse().ok()).collect();
    (output.status.success() && figures.len() == count).then_some(figures)
}

fn main() -> ExitCode {
    match env::args().nth(1).as_deref() {
        Some(COST) => measure(),
        Some(TRUTH) => truth::measure(),
        Some(WORK) => truth::print_work(),
        _ => return compare(),
    }
    ExitCode::SUCCESS
}

/// Prints both tables.
fn compare() -> ExitCode {
    let cost = |with_tree| child(COST, with_tree, SUBJECTS.len());
    let pairs: Option<Vec<_>> = (0..PAIRS)
        .map(|_| Some((cost(false)?, cost(true)?)))
        .collect();
    let Some(pairs) = pairs else {
        eprintln!("tree: a measuring process failed");
        return ExitCode::FAILURE;
    };
    println!("| | ticks a call | with the tree | more | must |\n|---|---|---|---|---|");
    for (index, (name, ..)) in SUBJECTS.into_iter().enumerate() {
        let (without, with): (Vec<f64>, Vec<f64>) = pairs
            .iter()
            .map(|(without, with)| (without[index], with[index]))
            .unzip();
        let more = median(
            pairs
                .iter()
                .map(|(without, with)| with[index] - without[index])
                .collect(),
        );
        println!(
            "| {name} | {:.1} | {:.1} | {more:+.1} | ≤ 12 |",
            median(without),
            median(with)
        );
    }
    let truth: Option<Vec<_>> = (0..TRUTHS)
        .map(|_| child(TRUTH, true, truth::EXPECTED.len()))
        .collect();
    let Some(truth) = truth else {
        eprintln!("tree: a process with a known call tree failed");
        return ExitCode::FAILURE;
    };
    println!("\n| context | self ticks on the CPU ÷ its work | must |\n|---|---|---|");
    for (index, (path, _)) in truth::EXPECTED.into_iter().enumerate() {
        let ratio = median(truth.iter().map(|ratios| ratios[index]).collect());
        println!("| {path} | {ratio:.3} | 0.98–1.02 |");
    }
    ExitCode::SUCCESS
}
