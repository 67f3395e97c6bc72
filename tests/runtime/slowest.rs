//! The slowest calls of a function, and where they ran.

use std::thread;
use std::time::Duration;

use tsc_runtime::{RecordedValue, Report, SlowCall, cycles, snapshot};

/// The requests of the program that sleep, and those that compute.
const SLEEPS: [u64; 4] = [10_007, 60_013, 110_017, 160_019];
const COMPUTES: [u64; 4] = [30_011, 80_021, 130_027, 190_027];

#[cfg(unix)]
fn run_program(argument: &str) -> Report {
    let mut command = tests::program(env!("CARGO_BIN_EXE_slow"));
    command.arg(argument);
    command.env("TSC_SLOWEST", "8").env("TSC_REPORT", "json");
    let output = tests::run(&mut command);
    Report::from_json(tests::text(&output.stderr).trim()).expect("standard error is a report")
}

fn number(call: &SlowCall) -> u64 {
    match call.value() {
        Some(RecordedValue::Unsigned(number)) => *number,
        other => panic!("{other:?}"),
    }
}

/// Checks all that is said of the planted calls, and returns whether there is no other, and each has done little else. A machine that takes a
/// CPU away for milliseconds without telling its guest makes any call slow, and that time is on the CPU.
fn check(report: &Report) -> bool {
    let row = report.callsite("request").expect("it was called");
    assert_eq!(
        (row.calls(), row.slowest().len(), report.slowest_calls()),
        (200_000, 8, 8)
    );
    let hz = report
        .clock()
        .hz()
        .expect("a run of this length has a rate");
    let (mut planted, mut is_undisturbed) = (0, true);
    for call in row.slowest() {
        let is_sleep = SLEEPS.contains(&number(call));
        if !is_sleep && !COMPUTES.contains(&number(call)) {
            continue;
        }
        planted += 1;
        let parts = [
            call.on_cpu_ticks(),
            call.blocked_ticks(),
            call.waiting_ticks(),
        ];
        let [on_cpu, blocked, waiting] = parts.map(|ticks| ticks.expect("it is known"));
        assert!((on_cpu + blocked - call.ticks()).abs() < 1.0);
        let (part, least) = if is_sleep {
            (blocked, 0.003)
        } else {
            (on_cpu, 0.006)
        };
        assert!(part > 0.8 * least * hz, "{call:?}");
        assert!(call.ticks() > 0.99 * least * hz, "{call:?}");
        is_undisturbed &= part > 0.8 * call.ticks();
        let wall = (call.end_ns() - call.begin_ns()) as f64 / 1e9 * hz;
        assert!(
            (wall / (call.ticks() + waiting) - 1.0).abs() < 0.1,
            "{call:?}"
        );
        assert_eq!(call.thread_name(), Some("server"));
        assert!(call.cpu().is_some() && call.pid() == report.process().pid());
        let names: Vec<_> = call
            .path()
            .iter()
            .map(|&at| report.callsites()[at as usize].name())
            .collect();
        assert_eq!(names, ["request", "serve"]);
    }
    let ticks: Vec<f64> = row.slowest().iter().map(SlowCall::ticks).collect();
    assert!(ticks.is_sorted_by(|one, next| one >= next));
    let mut order: Vec<_> = row.slowest().iter().collect();
    order.sort_by_key(|call| call.begin_ns());
    assert!(order.iter().map(|call| number(call)).is_sorted());
    let serve = &report.callsite("serve").expect("it was called").slowest()[0];
    assert!(
        row.slowest()
            .iter()
            .all(|call| serve.begin_ns() <= call.begin_ns() && call.end_ns() <= serve.end_ns())
    );
    planted == 8 && is_undisturbed
}

#[cfg(unix)]
fn planted_calls_are_found(argument: &str) -> Option<Report> {
    for _ in 0..5 {
        let report = run_program(argument);
        if !tests::is_split(&report, "planted sleep") {
            return None;
        }
        if check(&report) {
            return Some(report);
        }
    }
    panic!("other calls were slower, or something else took long, in each of five runs");
}

#[test]
#[cfg(unix)]
fn exactly_the_planted_calls_are_found() {
    planted_calls_are_found("quiet");
}

#[test]
#[cfg(unix)]
fn exactly_the_planted_calls_are_found_beside_busy_threads() {
    if let Some(report) = planted_calls_are_found("busy") {
        let calls = report.callsite("request").expect("it was called").slowest();
        let waited: f64 = calls.iter().filter_map(SlowCall::waiting_ticks).sum();
        let took: f64 = calls.iter().map(SlowCall::ticks).sum();
        assert!(waited > 0.2 * took, "{calls:?}");
        let text = format!("{report:#}");
        let lines = text
            .lines()
            .filter(|line| line.contains("slow call: ") && line.contains(" recorded "));
        assert_eq!(
            lines
                .filter(|line| line.contains("; called by serve"))
                .count(),
            8,
            "{text}"
        );
        assert!(text.contains(" waiting for a CPU; thread "), "{text}");
    }
}

#[test]
#[cfg(unix)]
fn every_report_has_the_slowest_calls_since_the_one_before() {
    let run = |kept: &str| {
        let mut command = tests::program(env!("CARGO_BIN_EXE_slow"));
        command
            .arg("take")
            .env("TSC_SLOWEST", kept)
            .env("TSC_REPORT", "off");
        let output = tests::run(&mut command);
        (tests::text(&output.stdout), tests::text(&output.stderr))
    };
    assert_eq!(run("1"), ("90\n30\n10\n".to_owned(), String::new()));
    assert_eq!(run("0"), ("\n\n\n".to_owned(), String::new()));
    let (values, complaints) = run("65");
    assert_eq!(values, "90\n30\n10\n");
    assert!(
        complaints.contains("TSC_SLOWEST=65 is invalid"),
        "{complaints}"
    );
}

#[test]
#[cfg(unix)]
fn callers_are_known_at_once_in_a_program_with_light_probes() {
    let mut command = tests::program(env!("CARGO_BIN_EXE_slow"));
    command.arg("lightly").env("TSC_REPORT", "off");
    let paths = tests::text(&tests::run(&mut command).stdout);
    let mut paths: Vec<&str> = paths.lines().collect();
    paths.sort_unstable();
    let around = "sleep for < around a report";
    let through = "sleep for < route < around a report";
    assert_eq!(
        paths,
        [around, around, around, "sleep for < route", through]
    );
}

#[cycles(name = "slow in a part")]
fn slow_in_a_part(milliseconds: u64) {
    thread::sleep(Duration::from_millis(milliseconds));
}

#[test]
fn difference_of_two_reports_has_the_calls_in_between() {
    (0..3).for_each(|_| slow_in_a_part(30));
    let before = snapshot();
    slow_in_a_part(2);
    slow_in_a_part(3);
    let since = snapshot().since(&before).expect("they are of this process");
    let calls = since
        .callsite("slow in a part")
        .expect("it was called")
        .slowest();
    assert_eq!(calls.len(), 2, "{calls:?}");
    let begin = before.process().duration_ns();
    assert!(
        calls
            .iter()
            .all(|call| call.begin_ns() * 101 / 100 >= begin),
        "{calls:?}"
    );
}
