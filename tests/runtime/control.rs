//! `pause`, `resume` and `reset`. They act on the whole process, so these tests take turns.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};
use std::thread;

use tests::{call, calls, callsite};
use tsc_runtime::__private::Lfence;
use tsc_runtime::{CallsiteReport, Report, cycles, pause, reset, resume, snapshot, take};

static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    resume();
    turn
}

#[test]
fn paused_calls_are_not_recorded() {
    let _turn = turn();
    #[cycles(name = "paused")]
    fn paused() {}
    pause();
    (0..10).for_each(|_| paused());
    assert_eq!(calls("paused"), 0);
    resume();
    (0..10).for_each(|_| paused());
    assert_eq!(calls("paused"), 10);
    pause();
    (0..10).for_each(|_| paused());
    resume();
    resume();
    (0..10).for_each(|_| paused());
    assert_eq!(calls("paused"), 20);
}

#[test]
fn call_in_flight_at_a_pause_is_recorded() {
    let _turn = turn();
    #[cycles(name = "in flight at a pause")]
    fn outer() {
        inner();
        pause();
        inner();
    }
    #[cycles(name = "inside")]
    fn inner() {}
    outer();
    outer();
    resume();
    assert_eq!((calls("in flight at a pause"), calls("inside")), (1, 1));
}

#[test]
fn pause_of_a_call_that_started_in_one_leaves_nothing_running() {
    let _turn = turn();
    #[cycles(name = "started in a pause")]
    fn outer() {
        resume();
        inner();
    }
    #[cycles(name = "resumed inside")]
    fn inner() {}
    pause();
    outer();
    assert_eq!(
        (calls("started in a pause"), calls("resumed inside")),
        (0, 1)
    );
    assert!(snapshot().callsites().iter().all(|row| row.running() == 0));
}

#[test]
fn items_are_counted_of_the_calls_that_are_recorded() {
    let _turn = turn();
    #[cycles(name = "counts items", items = count)]
    fn counts_items(count: u32, change: fn()) {
        change();
    }
    counts_items(10, pause);
    counts_items(200, resume);
    let report = snapshot();
    let row = report.callsite("counts items").unwrap();
    assert_eq!((row.calls(), row.units()), (1, Some(10)));
}

#[test]
fn reset_forgets_all_threads() {
    let _turn = turn();
    #[cycles(name = "forgotten")]
    fn forgotten() {}
    let barrier = Barrier::new(3);
    thread::scope(|scope| {
        scope
            .spawn(|| (0..100).for_each(|_| forgotten()))
            .join()
            .unwrap();
        for _ in 0..2 {
            scope.spawn(|| {
                (0..100).for_each(|_| forgotten());
                barrier.wait();
                // The main thread resets the figures here.
                barrier.wait();
                (0..7).for_each(|_| forgotten());
            });
        }
        barrier.wait();
        assert_eq!(calls("forgotten"), 300);
        reset();
        assert_eq!(calls("forgotten"), 0);
        barrier.wait();
    });
    assert_eq!(calls("forgotten"), 14);
    reset();
    assert_eq!(calls("forgotten"), 0);
}

#[test]
fn reset_keeps_the_first_call_where_it_was() {
    let _turn = turn();
    #[cycles(name = "warm")]
    fn warm() {}
    (0..10).for_each(|_| warm());
    reset();
    (0..10).for_each(|_| warm());
    let report = snapshot();
    let row = report.callsite("warm").unwrap();
    // The function's first call was before the reset, so all ten calls are samples.
    assert_eq!(row.samples() + row.excluded().unwrap_or(0), 10);
    assert_eq!(row.first_ticks(), None);
}

#[test]
fn session_and_difference_begin_at_a_reset() {
    let _turn = turn();
    #[cycles(name = "before and after")]
    fn before_and_after() {}
    (0..10).for_each(|_| before_and_after());
    let before = snapshot();
    let session = tsc_runtime::session();
    reset();
    (0..100).for_each(|_| before_and_after());
    assert_eq!(snapshot().since(&before), None);
    let report = session.report();
    assert_eq!(report.callsite("before and after").unwrap().calls(), 100);
}

#[test]
fn blocks_of_one_name_and_line_are_one_row() {
    let _turn = turn();
    macro_rules! functions {
        ($($function:ident)*) => {
            $(fn $function() {
                tsc_runtime::cycles_block!("written by a macro", {});
            })*
        };
    }
    functions!(one another);
    (0..10).for_each(|_| one());
    another();
    let session = tsc_runtime::session();
    another();
    let rows = |report: &Report| {
        let rows = report.callsites().iter();
        let rows = rows.filter(|row| row.name() == "written by a macro");
        rows.map(CallsiteReport::calls).collect::<Vec<_>>()
    };
    assert_eq!(rows(&session.report()), [1]);
    assert_eq!(rows(&snapshot()), [12]);
}

#[test]
fn reset_inside_a_call_counts_it_from_there() {
    let _turn = turn();
    #[cycles(name = "resetting")]
    fn resetting() {
        reset();
    }
    resetting();
    resetting();
    assert_eq!(calls("resetting"), 1);
}

#[test]
fn controls_race_with_threads_that_record() {
    let _turn = turn();
    #[cycles(name = "raced")]
    fn raced(value: u64) -> u64 {
        nested(value)
    }
    #[cycles(name = "raced inside")]
    fn nested(value: u64) -> u64 {
        value + 1
    }
    let stop = AtomicBool::new(false);
    let made = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !stop.load(Relaxed) {
                    (0..100).for_each(|n| _ = raced(n));
                    made.fetch_add(100, Relaxed);
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Relaxed) {
                    let before = made.load(Relaxed);
                    // Each of the 4 threads may have made up to 100 calls that it has not yet added to `made`.
                    let seen = calls("raced");
                    assert!(seen <= made.load(Relaxed) + 400, "{seen} after {before}");
                }
            });
        }
        for round in 0..300 {
            match round % 3 {
                0 => pause(),
                1 => reset(),
                _ => resume(),
            }
            thread::yield_now();
        }
        stop.store(true, Relaxed);
    });
    reset();
    resume();
    let (before, inside) = (calls("raced"), calls("raced inside"));
    assert_eq!((before, inside), (0, 0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..100).for_each(|n| _ = raced(n)));
        }
    });
    assert_eq!((calls("raced"), calls("raced inside")), (400, 400));
    assert!(snapshot().callsites().iter().all(|row| row.running() == 0));
}

#[test]
fn taken_reports_add_up() {
    let _turn = turn();
    #[cycles(name = "taken")]
    fn taken(value: u64) -> u64 {
        nested(value)
    }
    #[cycles(name = "taken inside")]
    fn nested(value: u64) -> u64 {
        value + 1
    }
    let of = |report: &Report| {
        ["taken", "taken inside"].map(|name| report.callsite(name).map_or(0, CallsiteReport::calls))
    };
    let stop = AtomicBool::new(false);
    let made = AtomicU64::new(0);
    let mut sums = [0, 0];
    let mut add = |report: &Report| {
        for (sum, calls) in sums.iter_mut().zip(of(report)) {
            *sum += calls;
        }
    };
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(Relaxed) {
                    (0..300).for_each(|n| _ = taken(n));
                    made.fetch_add(300, Relaxed);
                    // Calls of threads that end are taken, too.
                    thread::scope(|scope| _ = scope.spawn(|| taken(1)).join());
                    made.fetch_add(1, Relaxed);
                }
            });
        }
        for _ in 0..40 {
            add(&take());
        }
        stop.store(true, Relaxed);
    });
    let rest = snapshot();
    add(&rest);
    assert_eq!(of(&take()), of(&rest));
    assert_eq!(of(&take()), [0, 0]);
    let made = made.into_inner();
    assert_eq!(sums, [made, made]);
}

/// Callsites that register while another thread takes a report and has already copied the list of callsites.
#[test]
fn taken_reports_have_the_calls_of_callsites_that_are_new() {
    const THREADS: u64 = 3;
    const CALLSITES: u64 = 2_000;
    let _turn = turn();
    let added = |report: &Report| {
        let rows = report.callsites().iter();
        let added = rows.filter(|row| row.name().starts_with("added "));
        added.map(CallsiteReport::calls).sum::<u64>()
    };
    let mut calls = 0;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                scope.spawn(move || {
                    for number in 0..CALLSITES {
                        let site = callsite::<Lfence>(format!("added {thread} {number}"));
                        call::<Lfence>(site, || {});
                    }
                })
            })
            .collect();
        while !threads.iter().all(thread::ScopedJoinHandle::is_finished) {
            calls += added(&take());
        }
    });
    calls += added(&take());
    assert_eq!(calls, THREADS * CALLSITES);
}

/// Each snapshot calibrates the probes anew. This does not change the figures of calls that were reported before.
#[test]
fn difference_of_snapshots_is_the_work_between() {
    let _turn = turn();
    #[cycles(name = "before and after", fence = "none")]
    fn work(turns: u64) -> u64 {
        (0..turns).fold(1, |product, n| std::hint::black_box(product ^ n))
    }
    #[cycles(name = "calls work", fence = "none")]
    fn caller(calls: u64) -> u64 {
        (0..calls).fold(0, |sum, n| sum ^ work(n % 7))
    }
    drop(take());
    caller(5_000);
    let snapshots = [(); 4].map(|()| snapshot());
    caller(3_000);
    let later = snapshot();
    caller(2_000);
    let last = snapshot();

    let figures = |report: &Report| -> Vec<(u64, f64, f64, f64)> {
        ["before and after", "calls work"]
            .map(|name| {
                let row = report.callsite(name).unwrap();
                (
                    row.calls(),
                    row.total_ticks(),
                    row.self_ticks(),
                    row.overhead_ticks(),
                )
            })
            .to_vec()
    };
    // No function was called between these snapshots, although each of them has calibrated the probes anew.
    for snapshot in &snapshots[1..] {
        assert_eq!(figures(snapshot), figures(&snapshots[0]));
        assert!(
            snapshot
                .since(&snapshots[0])
                .unwrap()
                .callsites()
                .is_empty()
        );
    }
    // The parts add up to the whole, in calls and in ticks.
    let (first, second) = (
        later.since(&snapshots[0]).unwrap(),
        last.since(&later).unwrap(),
    );
    let both = last.since(&snapshots[3]).unwrap();
    let (first, second) = (figures(&first), figures(&second));
    for (index, of_both) in figures(&both).into_iter().enumerate() {
        let (one, other) = (first[index], second[index]);
        let calls = [(3_000, 2_000), (1, 1)][index];
        assert_eq!((one.0, other.0), calls);
        assert_eq!(of_both.0, one.0 + other.0);
        for (sum, whole) in [
            (one.1 + other.1, of_both.1),
            (one.2 + other.2, of_both.2),
            (one.3 + other.3, of_both.3),
        ] {
            // Figures are made of thousandths of a tick.
            assert!((sum - whole).abs() < 0.01, "{sum} {whole}");
        }
    }
}

#[test]
fn call_in_flight_is_in_the_report_after_its_return() {
    let _turn = turn();
    #[cycles(name = "across takes")]
    fn across() {
        let now = snapshot();
        let in_flight = now.callsite("across takes").unwrap();
        assert_eq!((in_flight.calls(), in_flight.running()), (0, 1));
        drop(take());
        drop(take());
    }
    drop(take());
    across();
    let report = take();
    let row = report.callsite("across takes").unwrap();
    assert_eq!((row.calls(), row.running()), (1, 0));
}
