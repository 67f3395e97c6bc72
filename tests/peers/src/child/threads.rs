//! Two threads that call the same annotated function at the same time.

use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use super::{FLOOR, call, print, stretch, time_in};
use crate::{Contestant, Functions};

const STRETCHES: u64 = 200;

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

/// ns that a call takes its thread, mean of the threads.
fn on_threads(count: usize, run: impl Fn() + Copy + Send) -> f64 {
    let barrier = &Barrier::new(count);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|_| {
                scope.spawn(move || {
                    run();
                    barrier.wait();
                    let began = Instant::now();
                    for _ in 0..STRETCHES {
                        run();
                    }
                    began.elapsed().as_nanos() as f64 / (STRETCHES * stretch()) as f64
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("a calling thread panicked")).sum::<f64>() / count as f64
    })
}
