//! Work of known length, and threads that compete with it.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use overhead::kernel::{cpu_time, pin};

/// Multiplications and additions of which each needs the result of the one before. They use no caches and no branches.
#[inline(always)]
pub(super) fn work(steps: u64) -> u64 {
    (0..steps).fold(steps, |value, _| {
        value
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407)
    })
}

/// The number of steps that take the given time on the CPU.
pub(super) fn steps_in(time: Duration) -> u64 {
    const TRIED: u64 = 200_000;
    let trial = || {
        let before = cpu_time();
        black_box(work(black_box(TRIED)));
        cpu_time() - before
    };
    let mut trials: Vec<_> = (0..25).map(|_| trial()).collect();
    trials.sort();
    (time.as_secs_f64() / trials[trials.len() / 2].as_secs_f64() * TRIED as f64) as u64
}

/// Runs `body` on a thread that is pinned to `cpu`, beside the given number of busy threads on the same CPU.
pub(super) fn beside<T: Send>(hogs: usize, cpu: usize, body: impl FnOnce() -> T + Send) -> T {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..hogs {
            scope.spawn(|| {
                pin(cpu);
                while !done.load(Relaxed) {
                    black_box(work(10_000));
                }
            });
        }
        let body = scope.spawn(|| {
            pin(cpu);
            let result = body();
            done.store(true, Relaxed);
            result
        });
        body.join().unwrap_or_else(|panic| {
            done.store(true, Relaxed);
            std::panic::resume_unwind(panic)
        })
    })
}
