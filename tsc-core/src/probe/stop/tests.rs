use crate::on_cpu::script::{self, Moment, Scripted};
use crate::probe::polls::{FutureTotals, PollProbe};
use crate::probe::section::Section;
use crate::probe::{Probe, Slot};
use crate::record::callsite::{Callsite, meta};
use crate::record::thread;
use crate::record::totals::Totals;
use crate::registry;
use tsc_report::Bucket;

pub(in crate::probe) fn callsite(name: &'static str) -> &'static Callsite {
    Box::leak(Box::new(Callsite::new::<Scripted>(
        meta(&(), module_path!(), line!()).named(name),
    )))
}

pub(in crate::probe) fn call(callsite: &'static Callsite, body: impl FnOnce()) {
    let mut slot = Slot::new();
    let _probe = Probe::<Scripted>::start(callsite, &mut slot);
    body();
}

fn poll(callsite: &'static Callsite, future: &mut FutureTotals, body: impl FnOnce()) {
    let mut slot = Slot::new();
    let _probe = PollProbe::<Scripted>::begin(callsite, &mut slot, future);
    body();
}

/// A callsite whose first call has been made. That call is measured with the real counter, so it may have lost real time: then another
/// callsite takes its place.
fn called_in_one_go(name: &'static str) -> &'static Callsite {
    loop {
        let callsite = callsite(name);
        call(callsite, || {});
        if totals(callsite).sums.off == 0 {
            return callsite;
        }
    }
}

/// Callsites whose first call has been made, on a thread that is simulated from here on.
pub(in crate::probe) fn scripted<const N: usize>(
    names: [&'static str; N],
) -> [&'static Callsite; N] {
    let callsites = names.map(called_in_one_go);
    for callsite in callsites {
        // Only the simulation lets time pass; the probes cost nothing.
        let (_, record) = thread::this().find(callsite.position()).unwrap();
        for cost in [&record.visible, &record.cost, &record.nesting] {
            cost.set(0);
        }
    }
    script::begin();
    callsites
}

pub(in crate::probe) fn totals(callsite: &'static Callsite) -> Totals {
    registry::figures()
        .unwrap()
        .callsites
        .into_iter()
        .find(|(one, _)| core::ptr::eq(*one, callsite))
        .map(|(_, totals)| totals)
        .expect("the callsite was called")
}

/// Ticks on the CPU, blocked and waiting. The first call is left out, because it was measured with the real counter.
fn inclusive(totals: &Totals) -> [i64; 3] {
    let on_cpu = totals.sums.gross() - totals.sums.first_sum - totals.sums.inner_gross;
    [
        on_cpu,
        totals.sums.off - totals.sums.waiting,
        totals.sums.waiting,
    ]
}

#[test]
fn loss_is_inclusive_in_all_callers_and_own_in_one() {
    let [outer, sleeper, worker] = scripted(["outer", "sleeper", "worker"]);
    for _ in 0..3 {
        call(outer, || {
            script::run(1_000);
            call(sleeper, || {
                script::run(50);
                script::lose(800_000, 30_000);
            });
            call(worker, || script::run(400_000));
            script::lose(7_000, 7_000);
            // A start finds this loss. It belongs to the outer call.
            call(worker, || script::run(400_000));
        });
    }
    let [outer, sleeper, worker] = [outer, sleeper, worker].map(totals);
    assert_eq!(inclusive(&sleeper), [150, 2_310_000, 90_000]);
    assert_eq!(inclusive(&worker), [2_400_000, 0, 0]);
    assert_eq!(inclusive(&outer), [2_403_150, 2_310_000, 111_000]);
    assert_eq!(
        [
            outer.sums.own_off,
            sleeper.sums.own_off,
            worker.sums.own_off
        ],
        [21_000, 2_400_000, 0]
    );
    let own_waiting = [
        outer.sums.own_waiting,
        sleeper.sums.own_waiting,
        worker.sums.own_waiting,
    ];
    assert_eq!(own_waiting, [21_000, 90_000, 0]);
    let switches = [&outer, &sleeper, &worker].map(|totals| totals.sums.switches);
    assert_eq!(switches, [6, 3, 0]);
    assert_eq!(outer.sums.callees, 2_400_150);
    // The probes cost nothing.
    assert_eq!((outer.sums.nested, sleeper.sums.nested), (0, 0));
    // Calls that are blocked are samples, with the time blocked, and without that of waiting.
    assert_eq!((sleeper.sums.repaired, sleeper.sums.excluded), (3, 0));
    assert_eq!(
        (sleeper.sums.max, sleeper.sums.min),
        (Some(770_050), Some(770_050))
    );
    assert_eq!((outer.sums.repaired, outer.sums.excluded), (3, 0));
    assert_eq!(
        (outer.sums.max, outer.sums.min),
        (Some(1_571_050), Some(1_571_050))
    );
    let calls = 3;
    let bucket = Bucket::of(1_608_050);
    assert_eq!(outer.wall_histogram(), [Bucket { calls, ..bucket }]);
}

#[test]
fn nothing_that_was_lost_between_calls_is_theirs() {
    let [function] = scripted(["between losses"]);
    for _ in 0..10 {
        script::lose(1_000_000, 0);
        script::run(10);
        call(function, || script::run(500));
    }
    let totals = totals(function);
    assert_eq!(inclusive(&totals), [5_000, 0, 0]);
    assert_eq!((totals.sums.samples, totals.sums.excluded), (10, 0));
}

#[test]
fn call_loses_no_more_than_it_took() {
    let [outer, inner] = scripted(["around the interrupted stop", "interrupted at its stop"]);
    call(outer, || {
        call(inner, || {
            script::run(100);
            script::interrupt_at(Moment::AfterStop);
        });
    });
    let [outer, inner] = [outer, inner].map(totals);
    assert_eq!(inclusive(&inner), [0, 100, 0]);
    assert_eq!(inclusive(&outer), [100, 5_000, 0]);
    assert_eq!((inner.sums.own_off, outer.sums.own_off), (100, 4_900));
}

#[test]
fn what_is_lost_before_a_start_reads_the_counter_is_the_callers() {
    let names = ["around the late start", "started late", "finds it"];
    let [around, function, callee] = scripted(names);
    call(around, || {
        script::run(1_000);
        script::interrupt_at(Moment::BeforeStart);
        call(function, || {
            script::run(60);
            // This start finds the loss.
            call(callee, || script::run(40));
        });
    });
    let [around, function, callee] = [around, function, callee].map(totals);
    assert_eq!(inclusive(&callee), [40, 0, 0]);
    // It cannot lose more than it took.
    assert_eq!(inclusive(&function), [0, 100, 0]);
    assert_eq!(inclusive(&around), [1_100, 5_000, 0]);
    assert_eq!((around.sums.own_off, function.sums.own_off), (4_900, 100));
}

#[test]
fn what_is_lost_while_a_start_asks_is_not_the_calls() {
    let [around, function] = scripted(["around the start", "after the request"]);
    call(around, || {
        script::lose(1_000, 1_000);
        script::interrupt_at(Moment::AfterRequest);
        call(function, || script::run(100));
    });
    let [around, function] = [around, function].map(totals);
    assert_eq!(inclusive(&function), [100, 0, 0]);
    assert_eq!(around.sums.off, 6_000);
}

#[test]
fn calls_in_a_report_take_nothing_from_the_calls_around_it() {
    const REPORT: u64 = 7_000;
    let [around, inside] = scripted(["around a report", "in a report"]);
    thread::simulate_time(REPORT);
    call(around, || {
        script::run(100);
        registry::as_report(|| call(inside, || script::run(REPORT)));
    });
    let around = totals(around);
    assert_eq!(inclusive(&around), [100, 0, 0]);
    assert_eq!((around.sums.nested, around.sums.callees), (7_000, 0));
}

/// Interruptions every few microseconds: the statistics are asked for only now and then, and the sums are still right.
#[test]
fn statistics_of_thick_interruptions_are_asked_for_together() {
    let [function] = scripted(["ping"]);
    let before = script::askings();
    for _ in 0..1_000 {
        call(function, || {
            script::run(1_000);
            script::lose(3_000, 1_000);
        });
    }
    let askings = script::askings() - before;
    // Once in each 50 µs of these 4 ms.
    assert!((70..90).contains(&askings), "{askings}");
    let totals = totals(function);
    assert_eq!(
        (inclusive(&totals)[0], totals.sums.off),
        (1_000_000, 3_000_000)
    );
    // The statistics were not asked for after the last few calls.
    assert!((980_000..=1_000_000).contains(&totals.sums.waiting));
    assert_eq!(totals.sums.own_off, 3_000_000);
    assert_eq!(totals.sums.repaired + totals.sums.excluded, 1_000);
    // Whatever wait is whose: the calls add up to the time on the CPU and blocked.
    let calls = totals.sums.sum + totals.sums.excluded_sum;
    assert_eq!(calls, 4_000_000 - totals.sums.waiting);
}

/// A call of 50 ticks that was preempted for a time that is all waiting.
#[test]
fn short_call_that_was_preempted_is_no_sample() {
    let [function] = scripted(["preempted"]);
    call(function, || {
        script::run(50);
        script::lose(4_000_000, 4_000_000);
    });
    let totals = totals(function);
    assert_eq!(inclusive(&totals), [50, 0, 4_000_000]);
    assert_eq!((totals.sums.repaired, totals.sums.excluded), (0, 1));
    assert_eq!(
        (totals.sums.excluded_sum, totals.sums.calls_waiting),
        (50, 4_000_000)
    );
}

#[test]
fn recursion_counts_a_loss_once() {
    let [function] = scripted(["recursive loss"]);
    fn recurse(function: &'static Callsite, depth: u32) {
        call(function, || {
            script::run(10);
            if depth == 0 {
                script::lose(90_000, 1_000);
            } else {
                recurse(function, depth - 1);
            }
        });
    }
    recurse(function, 4);
    let totals = totals(function);
    assert_eq!(inclusive(&totals), [50, 89_000, 1_000]);
    assert_eq!((totals.sums.own_off, totals.sums.repaired), (90_000, 5));
    assert_eq!(
        (totals.sums.own_waiting, totals.sums.calls_blocked),
        (1_000, 5 * 89_000)
    );
}

/// Three times `top`, which calls a function that calls itself so many times. Each of these calls runs for 60 µs. Then `before` happens in
/// it, with its depth, and the next call; in the innermost one, the depth is 1.
fn recursion(depth: u32, before: fn(u32)) -> [Totals; 2] {
    fn recurse(function: &'static Callsite, depth: u32, before: fn(u32)) {
        call(function, || {
            script::run(60_000);
            before(depth);
            if depth > 1 {
                recurse(function, depth - 1, before);
            }
        });
    }
    let [top, function] = scripted(["top", "recursive"]);
    for _ in 0..3 {
        call(top, || recurse(function, depth, before));
    }
    let totals = [top, function].map(totals);
    let on_cpu = 3 * 60_000 * i64::from(depth);
    assert_eq!(totals.each_ref().map(|of| inclusive(of)[0]), [on_cpu; 2]);
    totals
}

/// A signal takes no time off the CPU, but the clocks may differ by a few ticks, in either direction.
#[test]
fn signal_in_a_recursion_costs_nobody_anything() {
    let innermost = |depth| {
        if depth == 1 {
            script::signal();
        }
    };
    for depth in [10, 1_000] {
        for ahead in [7, -7] {
            script::set_ahead_after_signals(ahead);
            for before in [innermost, |_| script::signal()] {
                let [top, function] = recursion(depth, before);
                assert_eq!((top.sums.off, top.sums.own_off), (0, 0));
                assert_eq!((function.sums.off, function.sums.own_off), (0, 0));
            }
        }
    }
}

/// More losses than a thread keeps apart are pending at once. The own parts add up to the whole nevertheless.
#[test]
fn parts_add_up_however_deep_a_recursion_loses() {
    const WAITING: i64 = 500;
    let off = |depth: u32| 1_000 + 370 * i64::from(depth % 11);
    for depth in [10, 100, 1_000] {
        let [top, function] = recursion(depth, |depth| {
            script::lose(1_000 + 370 * u64::from(depth % 11), WAITING.cast_unsigned());
        });
        let expected: i64 = (1..=depth).map(off).sum();
        assert_eq!(
            [top.sums.off, top.sums.waiting],
            [3 * expected, 3 * WAITING * i64::from(depth)]
        );
        assert_eq!(
            top.sums.own_off + function.sums.own_off,
            top.sums.off,
            "{depth}"
        );
        // Only the first of these calls begins among losses that were joined.
        assert!(
            (top.sums.off - function.sums.off).abs() <= top.sums.off / 50,
            "{depth}"
        );
        assert!(function.sums.off >= function.sums.waiting && top.sums.own_off >= 0);
    }
}

#[test]
#[cfg_attr(
    target_family = "wasm",
    ignore = "there are no threads, so this one has followed other tests' scripts"
)]
fn suspended_future_is_neither_blocked_nor_waiting() {
    let [function] = scripted(["future"]);
    let mut future = FutureTotals::new();
    poll(function, &mut future, || script::run(300));
    // The thread sleeps between the polls.
    script::lose(1_000_000, 0);
    poll(function, &mut future, || {
        script::run(300_000);
        script::lose(40_000, 40_000);
    });
    script::lose(1_000_000, 0);
    poll(function, &mut future, || script::run(300));
    future.complete(function);
    let totals = totals(function);
    // The first call was not a future, so the ticks are only those of the polls.
    assert_eq!(totals.sums.polls_gross, 300_600);
    assert_eq!(totals.sums.poll_max, Some(300_000));
    assert_eq!((totals.sums.off, totals.sums.waiting), (40_000, 40_000));
    assert_eq!((totals.sums.repaired, totals.sums.max), (1, Some(300_600)));
}

#[test]
fn section_sees_what_was_lost_in_it_and_leaves_it_to_the_function() {
    let [function, section] = scripted(["around a section", "section"]);
    call(function, || {
        script::lose(500, 0);
        let section = Section::<Scripted>::start(section);
        script::run(250_000);
        script::lose(2_000, 500);
        section.stop();
    });
    let [function, section] = [function, section].map(totals);
    assert_eq!(inclusive(&section), [250_000, 1_500, 500]);
    assert_eq!(inclusive(&function), [250_000, 2_000, 500]);
    assert_eq!(function.sums.own_off, 2_500);
    assert_eq!((section.sums.repaired, section.sums.excluded), (1, 0));
}

#[test]
fn without_statistics_the_loss_is_known_and_not_its_kind() {
    let [function] = scripted(["unsplit"]);
    script::keep_no_statistics();
    call(function, || script::lose(90_000, 100));
    let sums = totals(function).sums;
    assert_eq!((sums.off, sums.unsplit, sums.unasked), (90_000, 1, 0));
    // A thread that has not given up its CPU has waited for it.
    call(function, || script::lose(70_000, 70_000));
    let sums = totals(function).sums;
    assert_eq!((sums.off, sums.waiting, sums.unsplit), (160_000, 70_000, 1));
}

#[test]
fn thread_has_waited_for_what_a_hypervisor_took() {
    let [function] = scripted(["stolen"]);
    for sleeps in [0, 300_000, 0] {
        call(function, || {
            script::run(1_000);
            script::lose(sleeps, 0);
            script::steal(80_000);
            script::lose(20_000, 20_000);
        });
    }
    // Of the call that also sleeps, it is not known how much was taken.
    let sums = totals(function).sums;
    assert_eq!((sums.off, sums.waiting), (600_000, 220_000));
}

#[test]
fn longest_poll_contains_the_time_blocked() {
    let [function] = scripted(["blocking future"]);
    let mut future = FutureTotals::new();
    poll(function, &mut future, || script::run(300_000));
    poll(function, &mut future, || {
        script::run(1_000);
        script::lose(900_000, 200_000);
    });
    future.complete(function);
    assert_eq!(totals(function).sums.poll_max, Some(701_000));
}

#[test]
fn handler_at_the_edge_of_a_call_is_not_in_the_call() {
    let [outer, edge] = scripted(["around the edge", "edge"]);
    for in_handler in [0, 1_000_000, 0] {
        call(outer, || {
            script::run(100);
            call(edge, || {
                script::run(50);
                // As if a handler had come before the read of the counter: time passes for the caller alone.
                let thread = thread::this();
                thread.add_overhead(in_handler);
                thread
                    .work
                    .set(thread.work.get() + in_handler.cast_unsigned() / 2);
            });
            script::run(2 * in_handler.cast_unsigned());
        });
    }
    let [outer, edge] = [outer, edge].map(totals);
    assert_eq!(inclusive(&edge), [150, 0, 0]);
    assert_eq!((edge.sums.min, edge.sums.max), (Some(50), Some(50)));
    assert_eq!((edge.sums.samples, edge.sums.excluded), (3, 0));
    assert_eq!((edge.sums.callees, edge.sums.nested), (0, 0));
    // What the handler's probes took is subtracted there, and its work is that of callees. Without overhead, no callees are added.
    assert_eq!(inclusive(&outer), [1_000_450, 0, 0]);
    assert_eq!(outer.sums.callees, 500_050);
}
