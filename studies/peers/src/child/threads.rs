//! Two threads that call the same annotated function at the same time.
//!
//! This must be enforced: on a busy machine, one thread could wait while the other runs, and nothing would be shared. So each thread is
//! pinned to a CPU, and a series of calls counts only if the other thread has finished one during it.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use super::{FLOOR, call, median, print, stretch, time_in};
use crate::{Contestant, Functions, process};

/// Stretches that count, of each thread; fewer than the least say nothing.
const ENOUGH: usize = 300;
const LEAST: usize = 20;
const DEADLINE: Duration = Duration::from_secs(1);

pub(super) fn run<C: Contestant>(functions: &Functions) {
    let contestant = C::start();
    time_in::<C>(functions.empty);
    let floor = || call(FLOOR.empty, stretch());
    let own = || C::stretch(&mut || call(functions.empty, stretch()));
    print("floor", on_threads(1, floor));
    print("floor_two", on_threads(2, floor));
    print("one", on_threads(1, own));
    print("two", on_threads(2, own));
    // Some leave a file behind otherwise.
    contestant.report();
}

/// On cache lines of its own, so that to count stretches does not slow the other thread's calls.
#[derive(Default)]
#[repr(align(128))]
struct Finished(AtomicU64);

/// ns that a call takes its thread: of each thread the median over the stretches that count, and of those the mean. `None` if the
/// threads hardly ever ran at the same time.
fn on_threads(count: usize, run: impl Fn() + Copy + Send) -> Option<f64> {
    let barrier = &Barrier::new(count);
    let finished = &[Finished::default(), Finished::default()];
    // A thread that has enough goes on until the other has too.
    let satisfied = &AtomicUsize::new(0);
    thread::scope(|scope| {
        let calling = move |thread: usize| {
            process::pin(thread);
            run();
            barrier.wait();
            let deadline = Instant::now() + DEADLINE;
            let mut stretches = Vec::with_capacity(ENOUGH);
            while satisfied.load(Relaxed) < count && Instant::now() < deadline {
                let before = finished[1 - thread].0.load(Relaxed);
                let began = Instant::now();
                run();
                let elapsed = began.elapsed().as_nanos() as f64 / stretch() as f64;
                finished[thread].0.fetch_add(1, Relaxed);
                let together = count == 1 || finished[1 - thread].0.load(Relaxed) != before;
                if together && stretches.len() < ENOUGH {
                    stretches.push(elapsed);
                    satisfied.fetch_add(usize::from(stretches.len() == ENOUGH), Relaxed);
                }
            }
            (stretches.len() >= LEAST).then(|| median(&mut stretches))
        };
        let threads: Vec<_> = (0..count)
            .map(|thread| scope.spawn(move || calling(thread)))
            .collect();
        let medians: Option<Vec<_>> = threads
            .into_iter()
            .map(|thread| thread.join().expect("a calling thread panicked"))
            .collect();
        medians.map(|medians| medians.iter().sum::<f64>() / count as f64)
    })
}
