//! Timed recursion of any depth, with signals in it: the parts add up to the whole.
#![cfg(all(target_os = "linux", not(miri)))]

use std::env;
use std::hint::black_box;
use std::thread;

use tsc_runtime::{CallsiteReport, Report, cycles, take};

extern "C" fn nothing(_: libc::c_int) {}

/// Lets the thread receive a signal.
fn signal() {
    // SAFETY: the signal has a handler that does nothing.
    unsafe { libc::raise(libc::SIGUSR1) };
}

#[cycles]
#[inline(never)]
fn down(depth: u64) -> u64 {
    if depth.is_multiple_of(10_000) {
        signal();
    }
    if depth == 0 {
        leaf()
    } else {
        black_box(down(depth - 1)) + 1
    }
}

#[cycles]
fn leaf() -> u64 {
    (0..1_000).for_each(|turn| _ = black_box(turn));
    signal();
    0
}

#[cycles]
#[inline(never)]
fn even(depth: u64) -> u64 {
    if depth == 0 {
        leaf()
    } else {
        black_box(odd(depth - 1)) + 1
    }
}

#[cycles]
#[inline(never)]
fn odd(depth: u64) -> u64 {
    black_box(even(depth - 1)) + 1
}

#[cycles]
fn top(depth: u64) {
    assert_eq!((down(depth), even(depth)), (depth, depth));
}

fn assert_near(parts: f64, whole: f64, of: &str) {
    assert!(
        (parts - whole).abs() <= 1e-3 * whole,
        "{of}: {parts} of {whole}"
    );
}

fn sum(report: &Report, of: impl Fn(&CallsiteReport) -> f64) -> f64 {
    report.callsites().iter().map(of).sum()
}

fn check(report: &Report) {
    let top = report.callsite("top").unwrap();
    assert_near(
        sum(report, CallsiteReport::self_ticks),
        top.total_ticks(),
        "self",
    );
    for row in report.callsites() {
        assert!(row.clean().unwrap_or(0) <= row.calls(), "{row:?}");
        let parts = [row.blocked_ticks(), row.waiting_ticks()];
        assert!(
            parts.into_iter().flatten().all(|part| part >= 0.0),
            "{row:?}"
        );
    }
    let (Some(on_cpu), Some(blocked), Some(waiting)) =
        (top.on_cpu_ticks(), top.blocked_ticks(), top.waiting_ticks())
    else {
        return tests::skipped("the time on the CPU is not known here");
    };
    assert_near(on_cpu + blocked, top.total_ticks(), "top");
    assert_near(
        top.total_ticks() + waiting,
        top.wall_ticks(),
        "top by the wall",
    );
    let own = |row: &CallsiteReport| row.self_on_cpu_ticks().unwrap();
    assert_near(sum(report, own), on_cpu, "on the CPU");
    if !report.contexts().is_empty() {
        let contexts = report.contexts().iter();
        let own = contexts.map(|context| context.self_ticks()).sum();
        assert_near(own, on_cpu, "contexts");
    }
}

#[test]
fn parts_of_a_recursion_add_up_at_every_depth() {
    // SAFETY: the handler does nothing, and this process does not use the signal for anything else.
    unsafe { libc::signal(libc::SIGUSR1, nothing as *const () as libc::sighandler_t) };
    let run = || {
        for depth in [10, 100, 1_000, 100_000] {
            let rounds = (20_000 / depth).max(3);
            drop(take());
            (0..rounds).for_each(|_| top(depth));
            let report = take();
            let calls = |name| report.callsite(name).unwrap().calls();
            assert_eq!((calls("top"), calls("leaf")), (rounds, 2 * rounds));
            assert_eq!(calls("down"), rounds * (depth + 1));
            assert_eq!(calls("even") + calls("odd"), rounds * (depth + 1));
            assert_eq!(
                report.contexts().is_empty(),
                env::var_os("TSC_TREE").is_none()
            );
            check(&report);
        }
    };
    let deep = thread::Builder::new().stack_size(512 << 20);
    deep.spawn(run).unwrap().join().unwrap();
}

#[test]
fn parts_of_a_recursion_add_up_with_the_call_tree() {
    let mut again = tests::program(env::current_exe().expect("the test's own path"));
    again.args(["--exact", "parts_of_a_recursion_add_up_at_every_depth"]);
    let output = again.env("TSC_TREE", "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{output:?}"
    );
}
