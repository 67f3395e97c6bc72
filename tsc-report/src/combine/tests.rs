//! The slowest calls of several reports.

use crate::data::WholeTicks;
use crate::{CallsiteReport, CallsiteSums, Clock, Process, Report, SlowCall};

const KEPT: u64 = 5;

/// A process that has made calls of these ticks in a function, and keeps the slowest. Every second process has another function before
/// it, so that the indices of paths differ.
fn process(pid: u32, ticks: &[i64]) -> Report {
    let clock = Clock {
        source: "TSC".to_owned(),
        hz: Some(2.6e9),
        ..Clock::default()
    };
    let mut slowest = Vec::new();
    for (at, &ticks) in (0..).zip(ticks) {
        slowest.push(SlowCall {
            begin_ns: at,
            pid,
            ticks: WholeTicks(ticks),
            path: vec![u64::from(pid % 2)],
            ..SlowCall::default()
        });
    }
    SlowCall::choose(&mut slowest, KEPT);
    let callsite = |name: &str, slowest: Vec<SlowCall>| CallsiteReport {
        name: name.to_owned(),
        slowest,
        sums: CallsiteSums {
            samples: ticks.len() as u64,
            sum: ticks.iter().sum(),
            ..CallsiteSums::default()
        },
        ..CallsiteReport::default()
    };
    let mut callsites = vec![callsite("f", slowest)];
    if pid % 2 == 1 {
        callsites.insert(0, callsite("g", Vec::new()));
    }
    for callsite in &mut callsites {
        callsite.derive(&clock);
    }
    Report {
        process: Process {
            started: format!("{pid:04}"),
            pid,
            ..Process::default()
        },
        clock,
        callsites,
        slowest_calls: KEPT,
        ..Report::default()
    }
}

/// Numbers in a fixed disorder.
fn ticks(pid: u32) -> Vec<i64> {
    let calls = 0..40_i64;
    let seed = i64::from(pid) * 7919;
    calls.map(|call| (seed + call * 104_729) % 10_007).collect()
}

fn kept(report: &Report) -> Vec<(i64, u32)> {
    let row = report.callsite("f").expect("it was called");
    let name = |index: &u64| report.callsites[*index as usize].name.as_str();
    assert!(
        row.slowest
            .iter()
            .all(|call| call.path.iter().map(name).eq(["f"]))
    );
    row.slowest
        .iter()
        .map(|call| (call.ticks.0, call.pid))
        .collect()
}

#[test]
fn sum_of_64_dumps_has_the_slowest_of_all() {
    let mut all: Vec<(i64, u32)> = (1..=64)
        .flat_map(|pid| ticks(pid).into_iter().map(move |ticks| (ticks, pid)))
        .collect();
    all.sort_by_key(|&(ticks, pid)| (std::cmp::Reverse(ticks), pid));
    let merged = |order: &mut dyn Iterator<Item = u32>| {
        let mut sum = Report::default();
        for pid in order {
            sum.merge(&process(pid, &ticks(pid))).unwrap();
        }
        sum
    };
    let sum = merged(&mut (1..=64));
    assert_eq!(sum.slowest_calls, KEPT);
    assert_eq!(kept(&sum).len(), 5);
    let times = |calls: &[(i64, u32)]| calls.iter().map(|call| call.0).collect::<Vec<_>>();
    assert_eq!(times(&kept(&sum)), times(&all[..5]));
    // The same calls, whatever the order; also if the sums are added.
    assert_eq!(kept(&merged(&mut (1..=64).rev())), kept(&sum));
    let mut halves = merged(&mut (30..=64));
    halves.merge(&merged(&mut (1..30))).unwrap();
    assert_eq!(kept(&halves), kept(&sum));
    #[cfg(feature = "json")]
    assert_eq!(Report::from_json(&sum.to_json()).unwrap(), sum);
}

#[test]
fn report_that_keeps_fewer_limits_the_sum() {
    let mut few = process(2, &[9, 8, 7]);
    few.slowest_calls = 2;
    few.callsites[0].slowest.truncate(2);
    let mut sum = process(4, &[1, 10, 3, 4]);
    sum.merge(&few).unwrap();
    assert_eq!(kept(&sum), [(10, 4), (9, 2)]);
    let mut off = process(6, &[]);
    off.slowest_calls = 0;
    sum.merge(&off).unwrap();
    assert_eq!(kept(&sum), [(10, 4), (9, 2)]);
}

#[test]
fn difference_has_the_calls_that_are_new() {
    let before = process(2, &[9, 9, 4]);
    let after = process(2, &[9, 9, 4, 9, 2]);
    let since = after.since(&before).expect("they are of one process");
    let row = since.callsite("f").expect("it was called");
    let times: Vec<_> = row
        .slowest
        .iter()
        .map(|call| (call.ticks.0, call.begin_ns))
        .collect();
    assert_eq!(times, [(9, 3), (2, 4)]);
}

/// A timed function is found by ticks only in processes with light calls.
#[test]
fn calls_of_a_process_without_ticks_keep_their_time_beside_ticks() {
    let process = |pid, linked, ticked| {
        let mut report = process(pid, &[500; 10]);
        let sums = &mut report.callsites[0].sums;
        (sums.own_off, sums.off, sums.linked) = (30, 30, linked);
        (sums.clock_ticks, sums.ticked, sums.ticked_own) = (linked, ticked, ticked);
        report.derive();
        report
    };
    let [calls, ticks] = [process(2, 0, 0), process(4, 10, 6000)];
    for (one, other) in [(&calls, &ticks), (&ticks, &calls)] {
        let mut sum = one.clone();
        sum.merge(other).unwrap();
        let row = &sum.callsites[0];
        assert_eq!((row.calls, row.clock_ticks), (20, Some(10)));
        assert_eq!((row.total_ticks, row.self_ticks), (11_030.0, 11_030.0));
        assert_eq!(row.self_on_cpu_ticks, Some(11_000.0));
    }
}
