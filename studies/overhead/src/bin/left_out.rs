//! Compares the cost of a call that `TSC_SKIP` leaves out with that of a measured call and that of a call without the attribute: medians
//! of many rounds, in ticks. It may cost ten ticks more than without the attribute.

use std::hint::black_box;
use std::process::Command;

use overhead::table::median;
use tsc_runtime::cycles;
use tsc_runtime::tsc::{FencePolicy, Lfence};

const CALLS: u32 = 1000;
const ROUNDS: usize = 2001;

#[inline(never)]
fn bare(value: u64) -> u64 {
    black_box(value)
}

#[cycles]
#[inline(never)]
fn measured(value: u64) -> u64 {
    black_box(value)
}

#[cycles]
#[inline(never)]
fn left_out(value: u64) -> u64 {
    black_box(value)
}

#[cycles(light)]
#[inline(never)]
fn light(value: u64) -> u64 {
    black_box(value)
}

#[cycles(light)]
#[inline(never)]
fn light_left_out(value: u64) -> u64 {
    black_box(value)
}

fn ticks_a_call(function: fn(u64) -> u64) -> f64 {
    let start = Lfence::start();
    for value in 0..u64::from(CALLS) {
        function(value);
    }
    (Lfence::stop() - start) as f64 / f64::from(CALLS)
}

fn main() {
    if std::env::var_os("TSC_SKIP").is_none() {
        let program = std::env::current_exe().expect("this program has a path");
        let mut again = Command::new(program);
        again.env("TSC_SKIP", "left_out$").env("TSC_REPORT", "off");
        let status = again.status().expect("this program starts once more");
        std::process::exit(status.code().unwrap_or(1));
    }
    let functions: [fn(u64) -> u64; 5] = [bare, measured, left_out, light, light_left_out];
    let mut rounds = [const { Vec::new() }; 5];
    for _ in 0..ROUNDS {
        for (function, round) in functions.iter().zip(&mut rounds) {
            round.push(ticks_a_call(*function));
        }
    }
    let [bare, measured, left_out, light, light_left_out] = rounds.map(median);
    println!("bare             {bare:7.1} ticks a call");
    for (what, ticks) in [
        ("timed", measured),
        ("timed, left out", left_out),
        ("light", light),
        ("light, left out", light_left_out),
    ] {
        println!("{what:16} {ticks:7.1} {:+7.1}", ticks - bare);
    }
    let is_known = tsc_runtime::snapshot().left_out().len() == 2;
    assert!(is_known, "the functions are left out");
    std::process::exit(i32::from(left_out.max(light_left_out) - bare > 10.0));
}
