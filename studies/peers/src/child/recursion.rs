//! The simplest fib(20): 21 891 calls, up to 20 deep.

use std::hint::black_box;
use std::time::Instant;

use super::{BARE, FLOOR, median, print};
use crate::{Contestant, Functions};

const CALLS: f64 = 21_891.0;
const BLOCKS: usize = 15;

pub(super) fn run<C: Contestant>(functions: &Functions) {
    let contestant = C::start();
    let [mut bare, mut floor, mut own] = [const { Vec::new() }; 3];
    for _ in 0..BLOCKS {
        bare.push(fib(BARE.fib));
        floor.push(fib(FLOOR.fib));
        C::stretch(&mut || own.push(fib(functions.fib)));
    }
    let told = contestant.report().fib.calls;
    print("bare", Some(median(&mut bare)));
    print("floor", Some(median(&mut floor)));
    print("own", Some(median(&mut own)));
    let made = CALLS * BLOCKS as f64;
    print("told", told.map(|told| told as f64 / made));
}

/// ns a call.
fn fib(function: fn(u64) -> u64) -> f64 {
    let began = Instant::now();
    black_box(black_box(function)(black_box(20)));
    began.elapsed().as_nanos() as f64 / CALLS
}
