//! Two threads that call the same annotated function at the same time.

use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use super::{FLOOR, call, median, print, stretch, time_in};
use crate::{Contestant, Functions};

const STRETCHES: usize = 400;

pub(super) fn run<C: Contestant>(functions: &Functions) {
    let contestant = C::start();
    time_in::<C>(functions.empty);
    let floor = on_threads(1, || call(FLOOR.empty, stretch()));
    let own = || C::stretch(&mut || call(functions.empty, stretch()));
    let one = on_threads(1, own);
    let two = on_threads(2, own);
    let floor_two = on_threads(2, || call(FLOOR.empty, stretch()));
    drop(contestant);
    print("floor", Some(floor));
    print("floor_two", Some(floor_two));
    print("one", Some(one));
    print("two", Some(two));
}

/// ns that a call takes its thread, mean of the threads; of each thread the median over its stretches, for on a busy machine a thread
/// waits for its turn in some of them.
fn on_threads(count: usize, run: impl Fn() + Copy + Send) -> f64 {
    let barrier = &Barrier::new(count);
    thread::scope(|scope| {
        let calling = move || {
            run();
            barrier.wait();
            let mut stretches: Vec<_> = (0..STRETCHES).map(|_| time(run)).collect();
            median(&mut stretches)
        };
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(calling)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a calling thread panicked"))
            .sum::<f64>()
            / count as f64
    })
}

fn time(run: impl Fn()) -> f64 {
    let began = Instant::now();
    run();
    began.elapsed().as_nanos() as f64 / stretch() as f64
}
