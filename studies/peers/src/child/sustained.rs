//! Ten million calls (ten thousand series) without a pause: whether it stays fast when queues are full, and what it costs including
//! everything.

use std::time::Instant;

use super::{FLOOR, call, print, stretch, time_in};
use crate::{Contestant, Functions, process};

const STRETCHES: u64 = 10_000;
const FLOOR_CALLS: u64 = 2_000_000;

pub(super) fn run<C: Contestant>(functions: &Functions) {
    let began = Instant::now();
    call(FLOOR.empty, FLOOR_CALLS);
    let floor = began.elapsed().as_nanos() as f64 / FLOOR_CALLS as f64;

    let contestant = C::start();
    time_in::<C>(functions.empty);
    let resident = process::resident();
    let cpu = process::cpu_ns();
    let began = Instant::now();
    for _ in 0..STRETCHES {
        C::stretch(&mut || call(functions.empty, stretch()));
    }
    let wall = began.elapsed().as_nanos() as f64;
    let grown = process::resident() - resident;
    let began = Instant::now();
    let readings = contestant.report();
    let report = began.elapsed().as_secs_f64();
    let cpu = process::cpu_ns() - cpu;

    let calls = (STRETCHES * stretch()) as f64;
    print("floor", Some(floor));
    print("wall", Some(wall / calls));
    print("cpu", Some(cpu / calls));
    print("grown", Some(grown / calls));
    print("peak", Some(process::peak()));
    print(
        "lost",
        readings
            .empty
            .calls
            .map(|told| calls + stretch() as f64 - told as f64),
    );
    print("report", Some(report));
}
