//! Threads that begin, record and end, while others make reports.

use std::sync::Barrier;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::thread;

use tests::{call, calls, callsite, row};
use tsc_runtime::__private::Lfence;
use tsc_runtime::{cycles, snapshot};

#[test]
fn threads_that_ended_are_folded_in() {
    #[cycles(name = "ended")]
    fn ended() {}
    for round in 1..=4 {
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..1001).for_each(|_| ended()));
            }
        });
        let row = row("ended");
        assert_eq!(
            (row.calls(), row.threads(), row.running()),
            (round * 8 * 1001, round * 8, 0)
        );
    }
}

#[test]
fn live_and_ended_threads_add_up() {
    #[cycles(name = "both")]
    fn both() {}
    let barrier = Barrier::new(5);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                (0..100).for_each(|_| both());
                barrier.wait();
                // The main thread makes its report between the two waits.
                barrier.wait();
            });
        }
        scope
            .spawn(|| (0..100).for_each(|_| both()))
            .join()
            .unwrap();
        barrier.wait();
        let live = row("both");
        barrier.wait();
        assert_eq!((live.calls(), live.threads()), (500, 5));
    });
    assert_eq!(row("both").calls(), 500);
}

#[test]
fn snapshots_of_threads_that_record_only_grow() {
    #[cycles(name = "looked at")]
    fn looked_at(value: u64) -> u64 {
        value.rotate_left(3)
    }
    let stop = AtomicBool::new(false);
    let calls = AtomicU64::new(0);
    let ready = Barrier::new(65);
    thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                looked_at(1);
                ready.wait();
                let mut own = 1;
                while !stop.load(Relaxed) {
                    (0..1000).for_each(|n| _ = looked_at(n));
                    own += 1000;
                    rest();
                }
                calls.fetch_add(own, Relaxed);
            });
        }
        ready.wait();
        let mut last = 64;
        for _ in 0..20 {
            let row = row("looked at");
            assert!(row.calls() >= last, "{} after {last}", row.calls());
            // The figures of a row are from one moment, so the mean of the samples lies between minimum and maximum.
            let sums = row.sums();
            if let (Some(min), Some(max)) = (sums.min(), sums.max()) {
                let (sum, samples) = (sums.sum(), sums.samples().cast_signed());
                assert!(min * samples <= sum && sum <= max * samples, "{row:?}");
            }
            last = row.calls();
        }
        stop.store(true, Relaxed);
    });
    assert_eq!(row("looked at").calls(), calls.into_inner());
}

#[test]
fn first_calls_race_for_a_callsite() {
    const ROUNDS: usize = 50;
    const THREADS: usize = 8;
    for round in 0..ROUNDS {
        let callsite = callsite::<Lfence>(format!("race {round}"));
        let barrier = Barrier::new(THREADS);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    barrier.wait();
                    (0..10).for_each(|_| call::<Lfence>(callsite, || {}));
                });
            }
        });
    }
    let report = snapshot();
    for round in 0..ROUNDS {
        let row = report
            .callsite(&format!("race {round}"))
            .expect("the callsite was called");
        assert_eq!(
            (row.calls(), row.threads()),
            (10 * THREADS as u64, THREADS as u64)
        );
    }
}

#[test]
fn thousand_callsites_on_64_threads() {
    const CALLSITES: u64 = 1000;
    const THREADS: u64 = 64;
    let callsites: Vec<_> = (0..CALLSITES)
        .map(|n| callsite::<Lfence>(format!("one of many {n}")))
        .collect();
    let stop = AtomicBool::new(false);
    let rounds = AtomicU64::new(0);
    let ready = Barrier::new(THREADS as usize + 1);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let mut own = 0;
                let mut round = || {
                    callsites
                        .iter()
                        .for_each(|callsite| call::<Lfence>(callsite, || {}));
                    own += 1;
                };
                round();
                ready.wait();
                while !stop.load(Relaxed) {
                    round();
                    rest();
                }
                rounds.fetch_add(own, Relaxed);
            });
        }
        ready.wait();
        let times: Vec<_> = (0..3)
            .map(|_| {
                let began = std::time::Instant::now();
                let report = snapshot();
                let took = began.elapsed();
                let many = report
                    .callsites()
                    .iter()
                    .filter(|row| row.name().starts_with("one of many"));
                assert_eq!(many.count() as u64, CALLSITES);
                took
            })
            .collect();
        stop.store(true, Relaxed);
        eprintln!("{CALLSITES} callsites on {THREADS} recording threads: snapshots took {times:?}");
    });
    let rounds = rounds.into_inner();
    let report = snapshot();
    for n in 0..CALLSITES {
        let row = report
            .callsite(&format!("one of many {n}"))
            .expect("the callsite was called");
        assert_eq!((row.calls(), row.threads()), (rounds, THREADS));
    }
}

/// Leaves the CPU to other threads for a moment, because there are more threads than CPUs.
fn rest() {
    thread::sleep(std::time::Duration::from_millis(50));
}

#[test]
fn threads_that_end_while_they_are_read_are_in_the_snapshot() {
    #[cycles(name = "ends while read")]
    fn called() {}
    const THREADS: u64 = 3_000;
    // These make a snapshot slow: their records are read before those of the thread that ends.
    let others: Vec<_> = (0..500)
        .map(|number| callsite::<Lfence>(format!("read meanwhile {number}")))
        .collect();
    let call_others = || others.iter().for_each(|other| call::<Lfence>(other, || {}));
    let (done, made) = (AtomicBool::new(false), AtomicU64::new(0));
    let called_all = Barrier::new(17);
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                call_others();
                called_all.wait();
                called_all.wait();
            });
        }
        called_all.wait();
        let reader = scope.spawn(|| {
            while !done.load(Relaxed) {
                let made = made.load(Acquire);
                let told = calls("ends while read");
                assert!(told >= made, "{told} of {made} calls");
            }
        });
        for _ in 0..THREADS {
            scope
                .spawn(|| {
                    called();
                    made.fetch_add(1, Release);
                })
                .join()
                .unwrap();
        }
        done.store(true, Relaxed);
        called_all.wait();
        reader.join().unwrap();
    });
    assert_eq!(calls("ends while read"), THREADS);
}
