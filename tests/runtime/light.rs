//! Light probes, with the real clock: what they count, and that the figures add up. Where a tick's time goes is tested in the runtime, with a
//! simulated clock. These tests share the process's figures, so functions have names of their own.

use std::future::{Future, poll_fn};
use std::hint::black_box;
use std::panic::catch_unwind;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use tests::{calls, row};
use tsc_runtime::{
    CallsiteReport, Report, cycles, cycles_block, pause, reset, resume, snapshot, take,
};

/// Tests that pause or reset take turns with the others.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Uses the CPU for about this long.
fn spin(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        black_box((0..100_u64).fold(0, |sum, number| sum ^ black_box(number)));
    }
}

#[test]
fn calls_are_counted_on_every_way_out() {
    let _turn = turn();
    #[cycles(light, name = "ways out")]
    fn ways_out(way: u32) -> Option<u32> {
        if way == 0 {
            return Some(0);
        }
        let value = (way != 1).then_some(way)?;
        assert_ne!(value, 2);
        Some(value)
    }
    for _ in 0..5 {
        assert_eq!(ways_out(0), Some(0));
        assert_eq!(ways_out(1), None);
        assert!(catch_unwind(|| ways_out(2)).is_err());
        assert_eq!(ways_out(3), Some(3));
    }
    let row = row("ways out");
    assert_eq!((row.calls(), row.probe(), row.fence()), (20, "light", ""));
    assert_eq!(
        (row.p50_ticks(), row.min_ticks(), row.clean()),
        (None, None, None)
    );
    assert!(row.self_ticks() >= 0.0 && row.probe_ticks().is_some());
}

#[test]
fn blocks_of_functions_are_light() {
    let _turn = turn();
    struct Shape(u64);
    #[cycles(light, name = "shape")]
    impl Shape {
        fn area(&self) -> u64 {
            self.0 * self.0
        }
        #[cycles(fence = "none")]
        fn timed(&self) -> u64 {
            self.area()
        }
    }
    #[cycles(light, name = "trait")]
    trait Named {
        fn name(&self) -> String;
        fn length(&self) -> usize {
            self.name().len()
        }
        async fn later(&self) -> usize {
            self.length()
        }
    }
    #[cycles(light, name = "named")]
    impl Named for Shape {
        fn name(&self) -> String {
            self.0.to_string()
        }
    }
    #[cycles(light, name = "inside")]
    mod inside {
        pub(super) fn twice(number: u64) -> u64 {
            2 * number
        }
    }
    let shape = Shape(3);
    for _ in 0..7 {
        assert_eq!(inside::twice(shape.timed()), 18);
        assert_eq!(shape.name(), "3");
        let mut later = pin!(shape.later());
        let mut context = Context::from_waker(Waker::noop());
        assert!(later.as_mut().poll(&mut context).is_ready());
    }
    let kind = |name: &str| {
        let row = row(name);
        (row.calls(), row.probe().to_owned())
    };
    assert_eq!(kind("shape::area"), (7, "light".to_owned()));
    assert_eq!(kind("shape::timed"), (7, "timed".to_owned()));
    assert_eq!(kind("named::name"), (14, "light".to_owned()));
    assert_eq!(kind("trait::length"), (7, "light".to_owned()));
    assert_eq!(kind("trait::later"), (7, "light".to_owned()));
    assert_eq!(kind("inside::twice"), (7, "light".to_owned()));
}

#[test]
fn blocks_instantiations_and_units_are_counted() {
    let _turn = turn();
    #[cycles(light, name = "of", per_type)]
    fn of<T: Copy>(value: T) -> T {
        value
    }
    #[cycles(light, name = "hashed", bytes = text.len())]
    fn hashed(text: &str) -> u64 {
        text.bytes().map(u64::from).sum()
    }
    for _ in 0..3 {
        assert_eq!(of(1_u8), 1);
        assert_eq!(of("x"), "x");
        assert_eq!(of("y"), "y");
        assert_eq!(hashed("ab"), 195);
        assert_eq!(cycles_block!("light block", light, { black_box(4) }), 4);
    }
    let report = snapshot();
    let mut rows: Vec<u64> = report
        .callsites()
        .iter()
        .filter(|row| row.name().starts_with("of ["))
        .map(tsc_runtime::CallsiteReport::calls)
        .collect();
    rows.sort_unstable();
    assert_eq!(rows, [3, 6]);
    assert_eq!(calls("light block"), 3);
    let hashed = row("hashed");
    assert_eq!((hashed.unit(), hashed.units()), (Some("bytes"), Some(6)));
}

#[test]
fn futures_are_counted_when_they_are_done() {
    let _turn = turn();
    #[cycles(light, name = "light future", items = 2)]
    async fn future(yields: u32) -> u32 {
        let mut left = yields + 1;
        poll_fn(|_| {
            left -= 1;
            if left == 0 {
                Poll::Ready(yields)
            } else {
                Poll::Pending
            }
        })
        .await
    }
    let mut context = Context::from_waker(Waker::noop());
    for yields in 0..4 {
        let mut future = pin!(future(yields));
        for _ in 0..yields {
            assert!(future.as_mut().poll(&mut context).is_pending());
        }
        assert_eq!(future.poll(&mut context), Poll::Ready(yields));
    }
    drop(future(1));
    {
        let mut cancelled = pin!(future(7));
        assert!(cancelled.as_mut().poll(&mut context).is_pending());
        assert!(cancelled.poll(&mut context).is_pending());
    }
    let row = row("light future");
    assert_eq!(
        (row.calls(), row.cancelled(), row.units(), row.polls()),
        (4, Some(1), Some(10), Some(1 + 2 + 3 + 4 + 2))
    );
}

#[test]
fn threads_that_end_leave_their_figures() {
    let _turn = turn();
    #[cycles(light, name = "on threads")]
    fn on_threads() {
        black_box(());
    }
    for _ in 0..20 {
        let threads = [(); 4].map(|()| thread::spawn(|| (0..50).for_each(|_| on_threads())));
        for thread in threads {
            thread.join().unwrap();
        }
    }
    let row = row("on threads");
    assert_eq!((row.calls(), row.threads()), (4000, 80));
}

#[test]
fn destructors_of_thread_locals_are_counted() {
    let _turn = turn();
    #[cycles(light, name = "in a destructor")]
    fn in_destructor() {}
    struct Last;
    impl Drop for Last {
        fn drop(&mut self) {
            in_destructor();
        }
    }
    thread_local!(static LAST: Last = const { Last });
    thread::spawn(|| {
        LAST.with(|_| {});
        in_destructor();
    })
    .join()
    .unwrap();
    assert_eq!(calls("in a destructor"), 2);
}

#[test]
fn pause_reset_and_take_apply() {
    let _turn = turn();
    #[cycles(light, name = "controlled")]
    fn controlled() {}
    let call = |count| (0..count).for_each(|_| controlled());
    call(3);
    pause();
    call(100);
    resume();
    call(4);
    assert_eq!(calls("controlled"), 7);
    let before = snapshot();
    call(5);
    let since = snapshot().since(&before).expect("they are of one process");
    assert_eq!(since.callsite("controlled").unwrap().calls(), 5);
    let taken = |report: &Report| report.callsite("controlled").map_or(0, |row| row.calls());
    assert_eq!(taken(&take()), 12);
    call(2);
    assert_eq!(taken(&take()), 2);
    call(6);
    reset();
    call(1);
    assert_eq!(calls("controlled"), 1);
}

#[test]
fn ticks_of_the_clock_are_taken_once() {
    let _turn = turn();
    #[cycles(light, name = "taken")]
    fn taken() {
        spin(Duration::from_millis(1));
    }
    // The number in a part varies at random. If it were that since the clock began, it would never fall.
    let mut last = 0;
    let falls = (0..1000).any(|_| {
        taken();
        let now = take().tick_clock().map_or(0, |clock| clock.ticks());
        now < std::mem::replace(&mut last, now)
    });
    assert!(falls, "the last of 1000 parts has {last} ticks");
}

#[test]
fn figures_add_up() {
    let _turn = turn();
    #[cycles(light, name = "branch")]
    fn branch(depth: u32) {
        spin(Duration::from_micros(100));
        if depth != 0 {
            branch(depth - 1);
            twig(depth - 1);
        }
    }
    #[cycles(light, name = "twig")]
    fn twig(depth: u32) {
        spin(Duration::from_micros(50));
        if depth != 0 {
            branch(depth - 1);
        }
    }
    #[cycles(name = "timed trunk")]
    fn trunk() {
        for _ in 0..20 {
            branch(5);
        }
    }
    // A timed call that began before the first light one has no time by ticks.
    branch(0);
    reset();
    // The clock's thread may have to wait for a CPU.
    let measured = || {
        trunk();
        snapshot()
    };
    let names = ["branch", "twig", "timed trunk"];
    let has_ticks = |report: &Report| {
        let rows = names.map(|name| report.callsite(name).unwrap());
        rows.iter().all(|row| row.sums().ticked() > 0)
    };
    let mut reports = std::iter::repeat_with(measured).take(100);
    let report = reports.find(has_ticks).expect("a tick in 100 turns");
    let rows = names.map(|name| report.callsite(name).unwrap());
    // Σ self = the outermost call, by ticks, which are whole numbers.
    let own: f64 = rows.iter().map(|row| row.self_ticks()).sum();
    assert!(
        (own - rows[2].total_ticks()).abs() < 1e-6 * own,
        "{own} {rows:?}"
    );
    for (name, row) in names.iter().zip(rows) {
        let parts = |of: fn(&tsc_runtime::Context) -> f64| -> f64 {
            let own = report.contexts().iter();
            own.filter(|context| report.name_of_context(context) == *name)
                .map(of)
                .sum()
        };
        assert_eq!(
            parts(tsc_runtime::Context::total_ticks),
            row.total_ticks(),
            "{name}"
        );
        assert_eq!(
            Some(parts(tsc_runtime::Context::self_ticks)),
            row.self_on_cpu_ticks(),
            "{name}"
        );
    }
    let clock = report.tick_clock().expect("there are light probes");
    assert!(
        clock.no_times_because().is_none() && clock.ticks() != 0,
        "{clock:?}"
    );
    let ticks: u64 = rows.iter().filter_map(|row| row.clock_ticks()).sum();
    assert!(ticks <= clock.ticks());
}

#[test]
fn time_asleep_is_found_where_it_is() {
    let _turn = turn();
    #[cycles(light, name = "light sleeper")]
    fn sleeper() {
        thread::sleep(Duration::from_millis(5));
    }
    #[cycles(light, name = "light worker")]
    fn worker() {
        spin(Duration::from_millis(1));
    }
    for _ in 0..20 {
        worker();
        sleeper();
    }
    #[cycles(name = "sleeper with a probe")]
    fn probed_sleeper() {
        thread::sleep(Duration::from_millis(5));
    }
    probed_sleeper();
    if !tests::is_split(&snapshot(), "sleeper with a probe") {
        return;
    }
    let hz = snapshot().clock().hz().unwrap();
    let [sleeper, worker] = ["light sleeper", "light worker"].map(row);
    let blocked = sleeper.blocked_ticks().unwrap() / hz;
    assert!(blocked >= 0.09, "{blocked}");
    assert!(worker.blocked_ticks().unwrap() / hz < blocked / 4.0);
}

#[test]
fn merged_reports_add_up() {
    let _turn = turn();
    #[cycles(light, name = "merged")]
    fn merged() {
        spin(Duration::from_micros(300));
    }
    (0..30).for_each(|_| merged());
    let one = snapshot();
    let mut both = one.clone();
    both.merge(&one).unwrap();
    let (one, both) = (
        one.callsite("merged").unwrap(),
        both.callsite("merged").unwrap(),
    );
    assert_eq!(both.calls(), 2 * one.calls());
    let with_probes = |row: &CallsiteReport| row.self_ticks() + row.visible_overhead_ticks();
    assert_eq!(with_probes(both), 2.0 * with_probes(one));
    // What is subtracted is a whole number of ticks.
    let subtracted = [both, one].map(CallsiteReport::visible_overhead_ticks);
    assert!(
        (subtracted[0] - 2.0 * subtracted[1]).abs() <= 1.0,
        "{subtracted:?}"
    );
    assert_eq!(both.clock_ticks(), one.clock_ticks().map(|ticks| 2 * ticks));
}

#[test]
fn report_is_read_as_it_was_written() {
    let _turn = turn();
    #[cycles(light, name = "written")]
    fn written() {}
    written();
    let report = snapshot();
    let read = Report::from_json(&report.to_json()).unwrap();
    assert_eq!(read, report);
}

#[test]
fn a_sessions_clock_is_that_of_the_session() {
    let _turn = turn();
    #[cycles(light, name = "before the session")]
    fn before() {
        spin(Duration::from_millis(5));
    }
    let ticks = |report: &Report| report.tick_clock().map_or(0, tsc_runtime::TickClock::ticks);
    let is_ticking = (0..100).any(|_| {
        before();
        ticks(&snapshot()) != 0
    });
    if !is_ticking {
        return tests::skipped("no clock of light probes");
    }
    let session = tsc_runtime::session();
    let (part, whole) = (session.report(), snapshot());
    drop(session);
    let (part, whole) = (ticks(&part), ticks(&whole));
    assert!(part < whole, "{part} {whole}");
}
