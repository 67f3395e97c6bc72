//! Four functions that take about the same time, each for another reason. The dump shows the reasons.
//!
//! `cargo run --release -p examples --bin on_cpu`; docs/on_cpu.md describes the output.

use std::hint::black_box;
use std::io::{self, PipeReader, Read, Write};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use examples::command::Example;
use tsc_runtime::{affinity, cycles};

const CALLS: usize = 100;

/// How long each call should take.
const TIME: Duration = Duration::from_millis(2);

/// Computes. A better machine would not help; less work would.
#[cycles]
#[inline(never)]
fn compute_bound(steps: u64) -> u64 {
    work(steps)
}

/// Waits for a byte that another thread writes. A faster device would help, or other work in the meantime.
#[cycles]
#[inline(never)]
fn io_bound(mut pipe: &PipeReader) -> io::Result<u8> {
    let mut byte = [0];
    pipe.read_exact(&mut byte)?;
    Ok(byte[0])
}

/// Waits for a lock that another thread holds. A shorter critical section would help.
#[cycles]
#[inline(never)]
fn lock_bound(shared: &Mutex<u64>) -> u64 {
    let mut shared = shared.lock().unwrap_or_else(|error| error.into_inner());
    *shared += 1;
    *shared
}

/// Does the same as `compute_bound`, on a CPU that two other threads want as well. More CPUs would help; less work would not help much.
#[cycles]
#[inline(never)]
fn starved(steps: u64) -> u64 {
    work(steps)
}

/// Multiplications and additions, each of which needs the result of the previous one.
fn work(steps: u64) -> u64 {
    (0..steps).fold(steps, |value, _| {
        value
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407)
    })
}

const EXAMPLE: Example = Example {
    name: "on_cpu",
    about: "Calls four functions that take about as long, each for a different reason. The dump at exit shows the reasons.",
    flags: &[],
};

fn main() -> ExitCode {
    EXAMPLE.run(|_, _| {
        let steps = steps_in(TIME);
        for _ in 0..CALLS {
            black_box(compute_bound(steps));
        }
        read_a_pipe()?;
        take_a_lock();
        share_a_cpu(steps);
        Ok(())
    })
}

/// The number of steps that take this time, if nothing disturbs them.
fn steps_in(time: Duration) -> u64 {
    const TRIED: u64 = 100_000;
    let trial = || {
        let start = Instant::now();
        black_box(work(TRIED));
        start.elapsed()
    };
    let least = (0..20).map(|_| trial()).min().unwrap_or(time);
    (time.as_secs_f64() / least.as_secs_f64() * TRIED as f64) as u64
}

fn read_a_pipe() -> io::Result<()> {
    let (reader, mut writer) = io::pipe()?;
    let device = thread::spawn(move || {
        (0..CALLS).try_for_each(|_| {
            thread::sleep(TIME);
            writer.write_all(&[1])
        })
    });
    for _ in 0..CALLS {
        io_bound(&reader)?;
    }
    device.join().unwrap_or(Ok(()))
}

fn take_a_lock() {
    let shared = Mutex::new(0);
    let (ask, asked) = channel();
    let (tell, told) = channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            for () in asked {
                let held = shared.lock();
                // The other thread now wants it.
                let _ = tell.send(());
                thread::sleep(TIME);
                drop(held);
            }
        });
        for _ in 0..CALLS {
            let is_held = ask.send(()).is_ok() && told.recv().is_ok();
            assert!(is_held, "the other thread ends last");
            lock_bound(&shared);
        }
        drop(ask);
    });
}

fn share_a_cpu(steps: u64) {
    let done = AtomicBool::new(false);
    let pin = || {
        let cpu = affinity::cpus().ok().and_then(|cpus| cpus.first().copied());
        cpu.and_then(|cpu| affinity::pin(cpu).ok())
    };
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let _pinned = pin();
                while !done.load(Relaxed) {
                    black_box(work(1_000));
                }
            });
        }
        scope.spawn(|| {
            let _pinned = pin();
            for _ in 0..CALLS {
                black_box(starved(steps));
            }
            done.store(true, Relaxed);
        });
    });
}
