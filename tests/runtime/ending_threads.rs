//! Threads that end faster than their records can be put away.
//!
//! The tests count the process's threads and how often they sleep, so they take turns, and no others are beside them: with a thousand callsites,
//! the end of a thread takes longer.

#![cfg(target_os = "linux")]

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;

use tsc_runtime::cycles;

static TURN: Mutex<()> = Mutex::new(());

/// A scope does not wait until its threads have ended, so its program may start threads faster than they end.
#[test]
fn threads_that_end_do_not_pile_up() {
    const TOO_MANY: usize = 1500;
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    #[cycles(name = "piles up", light)]
    fn piles_up() {}
    let stop = AtomicBool::new(false);
    let most = thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(Relaxed) {
                    thread::scope(|scope| (0..4).for_each(|_| _ = scope.spawn(piles_up)));
                }
            });
        }
        let began = std::time::Instant::now();
        let mut most = 0;
        while most < TOO_MANY && began.elapsed().as_secs() < 3 {
            let threads = std::fs::read_dir("/proc/self/task").expect("it can be read");
            most = most.max(threads.count());
            thread::sleep(std::time::Duration::from_millis(10));
        }
        stop.store(true, Relaxed);
        most
    });
    assert!(most < TOO_MANY, "{most} threads");
}

/// If they did not, they would take the CPUs from the thread that the others wait for.
#[test]
fn threads_that_end_at_once_wake_up_rarely() {
    const THREADS: usize = 2000;
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    #[cycles(name = "ends at once")]
    fn ends_at_once() {}
    let sleeps = || {
        // SAFETY: all zeros are valid, and the call only writes to it.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            assert_eq!(libc::getrusage(libc::RUSAGE_SELF, &raw mut usage), 0);
            usage
        };
        usage.ru_nvcsw
    };
    let before = sleeps();
    let barrier = Barrier::new(THREADS);
    thread::scope(|scope| {
        let begin = || {
            let body = || {
                ends_at_once();
                barrier.wait();
            };
            let builder = thread::Builder::new().stack_size(64 << 10);
            builder.spawn_scoped(scope, body).unwrap()
        };
        let threads: Vec<_> = (0..THREADS).map(|_| begin()).collect();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
    });
    let of_each = (sleeps() - before) / THREADS as i64;
    assert!(of_each < 100, "{of_each} sleeps of each thread");
}
