//! Compares two threads on one callsite with one thread. Records are not shared, so there should be no difference.

use std::sync::Barrier;
use std::thread;

use tsc_runtime::affinity;

use crate::subjects::{annotated, bare, ticks_per_call};
use overhead::table::{heading, quartiles, row};

const ROUNDS: usize = 201;
const CALLS: u32 = 5_000;

pub(crate) fn run(cpus: &[usize]) {
    let &[.., one, other] = cpus else {
        println!("\n(one CPU only: no comparison of two threads with one)");
        return;
    };
    let barrier = Barrier::new(2);
    let ratios = thread::scope(|scope| {
        scope.spawn(|| {
            let _pinned = affinity::pin(other);
            for _ in 0..ROUNDS {
                barrier.wait();
                ticks_per_call(annotated, CALLS * 2);
                barrier.wait();
                // In the round of one thread, the second CPU is as busy, too. Only the callsite differs.
                ticks_per_call(bare, CALLS * 60);
                barrier.wait();
            }
        });
        let _pinned = affinity::pin(one);
        let mut ratios = Vec::new();
        for _ in 0..ROUNDS {
            barrier.wait();
            let both = ticks_per_call(annotated, CALLS);
            barrier.wait();
            let alone = ticks_per_call(annotated, CALLS);
            barrier.wait();
            ratios.push(both / alone);
        }
        ratios
    });
    let [low, middle, high] = quartiles(ratios);
    heading("Two threads", &["what", "median", "quartiles"]);
    row(&[
        "two threads on one callsite ÷ one, per call".to_owned(),
        format!("{middle:.3}"),
        format!("{low:.3}–{high:.3}"),
    ]);
}
