//! Some ten thousand calls in series, with measurements of the floor in between: what a call costs its caller, and what the contestant
//! reports for an empty function and for a chain of known length.

use super::{BARE, FLOOR, call, median, print, time, time_in};
use crate::{Contestant, Functions, Readings};

const BLOCKS: usize = 60;
const SINGLE_CALLS: u32 = 20_000;

pub(super) fn run<C: Contestant>(functions: &Functions) {
    let contestant = C::start();
    time_in::<C>(functions.empty);
    time_in::<C>(functions.chain);
    let [mut bare, mut floor, mut own, mut truth] = [const { Vec::new() }; 4];
    for _ in 0..BLOCKS {
        floor.push(time(FLOOR.empty));
        own.push(time_in::<C>(functions.empty));
        let nothing = time(BARE.empty);
        bare.push(nothing);
        truth.push(time(BARE.chain) - nothing);
        time_in::<C>(functions.chain);
    }
    print("bare", Some(median(&mut bare)));
    print("floor", Some(median(&mut floor)));
    print("own", Some(median(&mut own)));
    // Not the mean: a block during which something else ran tells nothing of the chain.
    print("truth", Some(median(&mut truth)));
    if C::last().is_some() {
        print("empty", Some(mean_of_last::<C>(functions.empty)));
        print("chain", Some(mean_of_last::<C>(functions.chain)));
        return;
    }
    let Readings { empty, chain, .. } = contestant.report();
    print("empty", empty.mean_ns);
    print("chain", chain.mean_ns);
    print("raw_empty", empty.raw_ns);
    print("raw_chain", chain.raw_ns);
}

fn mean_of_last<C: Contestant>(function: fn(u64) -> u64) -> f64 {
    let mut sum = 0.0;
    for _ in 0..SINGLE_CALLS {
        call(function, 1);
        sum += C::last().expect("a contestant that has one, always has");
    }
    sum / f64::from(SINGLE_CALLS)
}
