//! Light probes on a thread whose time and clock are simulated.

use std::cell::RefCell;
use std::hint::black_box;

use super::{LightBlock, LightProbe};
use crate::calibration;
use crate::on_cpu::script::{self, Moment, Scripted};
use crate::probe::empty_calls::Light;
use crate::probe::{Probe, Slot};
use crate::record::callsite::{Callsite, meta};
use crate::record::light::{self, Frame};
use crate::record::thread;
use crate::record::totals::Totals;
use crate::registry;
use crate::tick_clock::{epoch, script::make_measurement_due};
use tsc_report::__private::Combine;
use tsc_report::CallsiteSums;

fn callsite(name: &'static str) -> &'static Callsite {
    let callsite = Callsite::new::<Light>(meta(&(), module_path!(), line!()).named(name));
    Box::leak(Box::new(callsite))
}

/// Runs `body` as a call.
fn call<T>(callsite: &'static Callsite, body: impl FnOnce() -> T) -> T {
    let frame = Frame::new();
    let _probe = LightProbe::start(callsite, &frame);
    body()
}

/// Callsites that were called once, on a thread of its own whose time is simulated from there on. The clock ticks for this thread only when
/// the test says so.
fn simulated<const N: usize>(
    names: [&'static str; N],
    test: impl FnOnce([&'static Callsite; N]) + Send,
) {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let timed = TIMED.with(|timed| *timed);
            call_timed(timed, || {});
            script::begin();
            let callsites = names.map(callsite);
            for callsite in callsites {
                call(callsite, || {});
            }
            // The process may have had light probes before, on threads of other tests.
            thread::this().invalidate();
            call_timed(timed, || {});
            begin_simulation([timed].into_iter().chain(callsites));
            test(callsites);
        });
    });
}

/// From here on, the time of this thread's light probes is simulated, and the rows of these callsites begin.
fn begin_simulation(callsites: impl IntoIterator<Item = &'static Callsite>) {
    light::this().simulate(&thread::this().detector, script::now().unwrap());
    let before = |callsite| (callsite, row(callsite));
    BEFORE.set(callsites.into_iter().map(before).collect());
}

thread_local! {
    /// A timed callsite of the thread.
    static TIMED: &'static Callsite = Box::leak(Box::new(Callsite::new::<Scripted>(
        meta(&(), module_path!(), line!()).named("timed"),
    )));
}

/// Runs `body` as a timed call.
fn call_timed<T>(callsite: &'static Callsite, body: impl FnOnce() -> T) -> T {
    let mut slot = Slot::new();
    let _probe = Probe::<Scripted>::start(callsite, &mut slot);
    body()
}

/// The clock ticks. The next probe finds it.
fn tick() {
    epoch().advance(script::now().unwrap());
}

fn row(callsite: &'static Callsite) -> CallsiteSums {
    let rows = registry::figures().unwrap().callsites;
    let row = rows.iter().find(|(of, _)| std::ptr::eq(*of, callsite));
    row.map_or_else(CallsiteSums::default, |(_, totals)| totals.sums.clone())
}

thread_local! {
    /// What was found before the simulation began.
    static BEFORE: RefCell<Vec<(&'static Callsite, CallsiteSums)>> = const { RefCell::new(Vec::new()) };
}

fn since_the_beginning(callsite: &'static Callsite) -> CallsiteSums {
    let mut sums = row(callsite);
    BEFORE.with_borrow(|before| {
        let found = before.iter().find(|(one, _)| std::ptr::eq(*one, callsite));
        sums.since(&found.unwrap().1);
    });
    sums
}

/// Ticks of the clock, and ticks of the counter on the CPU, blocked and waiting, outside of light callees.
fn own(callsite: &'static Callsite) -> (u64, i64, i64, i64) {
    let sums = since_the_beginning(callsite);
    let (off, waiting) = (sums.ticked_own_off, sums.ticked_own_waiting);
    (sums.clock_ticks, sums.ticked_own, off - waiting, waiting)
}

#[test]
fn every_call_is_counted() {
    let [outer, inner] = ["outer", "inner"].map(callsite);
    for _ in 0..10 {
        call(outer, || (0..7).for_each(|_| call(inner, || {})));
    }
    assert_eq!(row(outer).counted, 10);
    assert_eq!(row(inner).counted, 70);
}

#[test]
fn what_is_left_out_takes_the_usual_path_and_its_time_is_its_callers() {
    let left_out = Callsite::new::<Light>(meta(&(), module_path!(), line!())).left_out();
    let left_out: &'static Callsite = Box::leak(Box::new(left_out));
    simulated(["caller", "callee"], |[caller, callee]| {
        call(caller, || {
            call(left_out, || {
                assert!(light::this().has(left_out.row()));
                script::run(300);
                tick();
                call(callee, || {
                    script::run(70);
                    tick();
                });
            });
        });
        assert_eq!(own(caller), (1, 300, 0, 0));
        assert_eq!(own(callee), (1, 70, 0, 0));
        let counted = [caller, callee].map(|of| since_the_beginning(of).counted);
        assert_eq!(counted, [1, 1]);
    });
}

#[test]
fn tick_belongs_to_the_function_that_ran() {
    simulated(["caller", "callee"], |[caller, callee]| {
        call(caller, || {
            script::run(300);
            tick();
            script::run(20);
            // Found by the callee's start.
            call(callee, || {
                script::run(50);
                tick();
            });
            // Found by the callee's stop. The rest is found by nobody.
            script::run(4000);
        });
        // What follows the tick is the next one's.
        assert_eq!(own(caller), (1, 300, 0, 0));
        assert_eq!(own(callee), (1, 20 + 50, 0, 0));
        assert_eq!(since_the_beginning(caller).ticked, 370);
    });
}

#[test]
fn long_stretch_with_many_ticks_is_noticed() {
    simulated(["long", "short"], |[long, short]| {
        let lengths = [1, 64, 128, 256, 512];
        for ticks in lengths {
            call(long, || {
                script::run(70_000);
                (0..ticks).for_each(|_| tick());
            });
            call(short, || {
                script::run(1);
                tick();
            });
        }
        let times = lengths.len() as u64;
        assert_eq!(own(long), (times, 70_000 * times as i64, 0, 0));
        assert_eq!(own(short), (times, times as i64, 0, 0));
    });
}

#[test]
#[cfg_attr(miri, ignore = "needs the kernel's word")]
fn time_off_the_cpu_belongs_to_the_function_that_lost_it() {
    simulated(["works", "sleeps"], |[works, sleeps]| {
        for _ in 0..4 {
            call(works, || script::run(50_000));
            call(sleeps, || {
                script::run(1_000);
                script::lose(300_000, 30_000);
            });
        }
        // Nobody has seen a tick on the CPU.
        assert_eq!(own(sleeps), (0, 0, 1_080_000, 120_000));
        call(works, || {
            script::run(50_000);
            tick();
        });
        // The rest waits for the next ticks.
        assert_eq!(own(works), (1, (50_000 + 4 * 51_000) / 16, 0, 0));
    });
}

#[test]
fn tick_in_a_block_leaves_the_work_to_the_next_one() {
    simulated(["worker", "sleeper"], |[worker, sleeper]| {
        call(worker, || script::run(50_000));
        call(sleeper, || {
            script::lose(100_000, 0);
            tick();
            script::lose(200_000, 0);
        });
        assert_eq!(own(sleeper), (0, 0, 300_000, 0));
        call(worker, || {
            script::run(1);
            tick();
            script::run(9_999);
        });
        assert_eq!(own(worker), (1, (1 + 50_000) / 16, 0, 0));
    });
}

/// The clock takes the CPU from the thread, which has slept a moment before.
#[test]
#[cfg_attr(miri, ignore = "needs the kernel's word")]
fn wait_soon_after_a_block_is_not_a_block() {
    simulated(["worker", "sleeper"], |[worker, sleeper]| {
        call(sleeper, || script::lose(300_000, 0));
        call(worker, || {
            script::run(16 * 5_000);
            tick();
            script::lose(20_000, 20_000);
        });
        assert_eq!(own(worker), (1, 5_000, 0, 20_000));
    });
}

#[test]
fn thread_that_waits_for_a_cpu_has_its_tick() {
    simulated(["long"], |[long]| {
        call(long, || {
            script::run(1_000_000);
            script::lose(5_000_000, 5_000_000);
            tick();
            script::run(1_000_000);
        });
        assert_eq!(own(long), (1, 1_000_000, 0, 5_000_000));
    });
}

/// Functions that call each other in turn, each of which runs for 100 ticks before and after that, and finds a tick.
#[test]
fn parts_of_a_recursion_add_up_at_every_depth() {
    fn recurse(functions: &[&'static Callsite; 3], depth: usize) {
        call(functions[depth % 3], || {
            script::run(100);
            tick();
            if depth > 1 {
                recurse(functions, depth - 1);
            }
            script::run(100);
            tick();
        });
    }
    for depth in [1, 10, 1_000] {
        simulated(["root", "one", "another", "third"], |[root, rest @ ..]| {
            call(root, || recurse(&rest, depth));
            let calls = rest.map(|callsite| row(callsite).counted - 1);
            assert_eq!(calls.iter().sum::<u64>(), depth as u64);
            assert!(calls.iter().max().unwrap() - calls.iter().min().unwrap() <= 1);
            let expected = 200 * depth as i64;
            let inclusive = |of| since_the_beginning(of).ticked;
            let parts: i64 = rest.iter().map(|callsite| own(callsite).1).sum();
            assert_eq!((own(root).1 + parts, inclusive(root)), (expected, expected));
            // The outermost one contains all others.
            assert_eq!(inclusive(rest[depth % 3]), expected);
        });
    }
}

#[test]
fn panic_unlinks_the_frames_that_it_leaves() {
    simulated(["catches", "panics"], |[catches, panics]| {
        call(catches, || {
            let caught = std::panic::catch_unwind(|| {
                call(catches, || call(panics, || std::panic::panic_any(())));
            });
            assert!(caught.is_err());
            script::run(77);
            tick();
        });
        assert_eq!(own(catches), (1, 77, 0, 0));
        assert_eq!(row(panics).counted, 2);
        assert!(light::this().innermost().is_null());
    });
}

#[test]
fn block_in_a_suspended_future_may_end_in_a_call_that_is_not_recorded() {
    let left_out = Callsite::new::<Light>(meta(&(), module_path!(), line!())).left_out();
    let left_out: &'static Callsite = Box::leak(Box::new(left_out));
    simulated(["caller", "block"], |[caller, block]| {
        call(caller, || {
            let of_caller = light::this().innermost();
            let frame = Frame::new();
            let suspended = LightBlock::start(block, &frame);
            // As in a pause, there are no rows that the thread may use.
            light::this().invalidate_own();
            call(left_out, || {
                drop(suspended);
                script::run(300);
                tick();
            });
            assert_eq!(light::this().innermost(), of_caller);
        });
        assert!(light::this().innermost().is_null());
    });
}

#[test]
fn block_in_a_suspended_future_may_end_after_its_callers() {
    simulated(["caller", "block", "later"], |[caller, block, later]| {
        let [first, second] = [Frame::new(), Frame::new()];
        let suspended = call(caller, || LightBlock::start(block, &first));
        call(later, || {
            drop(suspended);
            script::run(70);
            tick();
        });
        assert_eq!(own(later), (1, 70, 0, 0));
        // Nothing has ended around this one, which ends in another function.
        let suspended = LightBlock::start(block, &second);
        call(later, || {
            drop(suspended);
            script::run(7);
            tick();
        });
        assert_eq!(own(later), (2, 77, 0, 0));
        assert!(light::this().innermost().is_null());
    });
}

#[test]
#[cfg_attr(miri, ignore = "needs the kernel's word")]
fn tick_in_a_timed_call_is_not_its_callers() {
    simulated(["around", "inside"], |[around, inside]| {
        let timed = TIMED.with(|timed| *timed);
        call(around, || {
            script::run(10);
            call_timed(timed, || {
                script::run(1_000);
                tick();
                script::run(1);
                call(inside, || {
                    script::run(100);
                    tick();
                });
                script::lose(90_000, 0);
            });
            script::run(16 * 5);
            tick();
        });
        assert_eq!(own(timed), (1, 1_010, 90_000, 0));
        assert_eq!(own(inside), (1, 101, 0, 0));
        assert_eq!(own(around), (1, 5, 0, 0));
        let inclusive = since_the_beginning(timed);
        assert_eq!((inclusive.ticked, inclusive.ticked_off), (1_111, 90_000));
        assert_eq!(inclusive.callees, 0, "its own ticks are no callee's");
        assert!(light::this().innermost().is_null());
    });
}

#[test]
#[cfg_attr(miri, ignore = "needs the kernel's word")]
fn tick_before_a_threads_first_timed_call_is_its_callers() {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let timed = TIMED.with(|timed| *timed);
            let caller = callsite("caller");
            script::begin();
            call(caller, || {});
            begin_simulation([timed, caller]);
            call(caller, || {
                script::run(300);
                tick();
                script::run(20);
                call_timed(timed, || {
                    script::run(1_000);
                    tick();
                });
            });
            assert_eq!(own(caller), (1, 300, 0, 0));
            assert_eq!(own(timed).0, 1);
        });
    });
}

#[test]
#[cfg_attr(miri, ignore = "needs the kernel's word")]
fn light_callees_are_not_the_own_time_of_a_timed_call_that_began_before() {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let timed = TIMED.with(|timed| *timed);
            let callee = callsite("callee");
            script::begin();
            call_timed(timed, || {
                call(callee, || {});
                begin_simulation([timed, callee]);
                script::run(50);
                call(callee, || {
                    script::run(300);
                    tick();
                    script::run(20);
                });
                script::lose(500, 0);
                call(callee, || script::lose(7_000, 0));
                script::run(10_000);
            });
            assert_eq!(own(callee), (1, 350, 7_000, 0));
            let sums = since_the_beginning(timed);
            assert_eq!((sums.calls(), sums.callees), (1, 350));
            assert_eq!((sums.off, sums.own_off, sums.own_waiting), (7_500, 500, 0));
        });
    });
}

#[test]
#[cfg_attr(miri, ignore = "needs the kernel's word")]
fn cost_of_light_callees_is_taken_once_from_a_timed_call_that_began_before() {
    const CALLS: u32 = 1000;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let timed = TIMED.with(|timed| *timed);
            let inner: &'static Callsite = Box::leak(Box::new(Callsite::new::<Scripted>(
                meta(&(), module_path!(), line!()).named("inner"),
            )));
            let callee = callsite("counted callee");
            script::begin();
            call_timed(timed, || {
                call(callee, || {});
                call_timed(inner, || {});
                light::this().simulate(&thread::this().detector, script::now().unwrap());
                BEFORE.set([timed, callee].map(|one| (one, row(one))).into());
                call(callee, || {
                    script::run(300);
                    tick();
                });
                (1..CALLS).for_each(|_| call(callee, || {}));
                // Longer than they cost.
                script::run(1_000_000);
            });
            let cost = calibration::light::of_calls(CALLS.into());
            let callees = since_the_beginning(timed).callees;
            // The other timed call is one of them, and takes nothing but the cost of its probe.
            assert!(
                cost > 0 && (callees + cost).abs() < cost / 10,
                "{callees}, {cost}"
            );
        });
    });
}

#[test]
fn calls_that_ticks_could_find_are_counted_when_they_end() {
    simulated(["around"], |[around]| {
        let timed = TIMED.with(|timed| *timed);
        let linked = || row(timed).linked;
        call(around, || {
            let before = linked();
            // After a reset in the call, it is one of the calls since then.
            call_timed(timed, || assert_eq!(linked(), before));
            assert_eq!(linked(), before + 1);
        });
    });
}

#[test]
#[cfg_attr(miri, ignore = "needs the kernel's word")]
fn what_is_lost_after_a_timed_stop_is_not_the_calls() {
    simulated(["around"], |[around]| {
        let timed = TIMED.with(|timed| *timed);
        let totals = || {
            thread::this()
                .find(timed.position())
                .unwrap()
                .1
                .totals(true)
        };
        let since = |before: &Totals| {
            let now = totals();
            (
                now.sums.gross() - before.sums.gross(),
                now.sums.off - before.sums.off,
            )
        };
        let costs = thread::this().find(timed.position()).unwrap().1;
        for cost in [&costs.visible, &costs.cost, &costs.nesting] {
            cost.set(0);
        }
        call(around, || {
            let before = totals();
            call_timed(timed, || {
                script::run(100);
                script::interrupt_at(Moment::AfterStop);
            });
            // The counter does not say that nothing of the loss was in the call, but no more can have been.
            assert_eq!(since(&before), (0, 100));

            let before = totals();
            call_timed(timed, || {
                script::run(100);
                script::lose(1_000, 0);
                script::run(50);
                script::interrupt_at(Moment::AfterRequest);
            });
            assert_eq!(since(&before), (150, 1_000));
        });
    });
}

/// The overhead of probes in the calls of the timed callsite.
fn nested() -> i64 {
    let timed = TIMED.with(|timed| *timed);
    let found = thread::this().find(timed.position()).unwrap().1;
    found.totals(true).sums.nested
}

#[test]
fn light_calls_before_a_threads_first_timed_one_are_not_its_overhead() {
    let cheap = callsite("cheap before");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let timed = TIMED.with(|timed| *timed);
            (0..10_000).for_each(|_| call(cheap, || {}));
            // Much longer than the light calls: what is more than a call can have taken would not count.
            call_timed(timed, || (0..500_000).for_each(|n| _ = black_box(n)));
            let (nested, cost) = (nested(), calibration::light::of_calls(10_000));
            assert!(cost > 0 && nested < cost / 10, "{nested}, {cost}");
        });
    });
}

#[test]
fn measurement_at_a_tick_is_overhead_and_no_functions_time() {
    simulated(["measures"], |[measures]| {
        let overhead = || thread::this().overhead.get();
        let before = overhead();
        call(measures, || {
            script::run(300);
            tick();
        });
        assert_eq!(overhead(), before);
        call(measures, || {
            script::run(300);
            make_measurement_due();
            tick();
        });
        assert!(overhead() > before);
        assert_eq!(own(measures), (2, 600, 0, 0));
    });
}

#[test]
fn light_calls_are_overhead_of_timed_ones() {
    simulated(["cheap"], |[cheap]| {
        let timed = TIMED.with(|timed| *timed);
        let before = nested();
        let expected = calibration::light::of_calls(1000);
        call_timed(timed, || {
            (0..1000).for_each(|_| call(cheap, || {}));
            // Longer than they cost, also under Miri.
            script::run(1_000_000.max(2 * expected.unsigned_abs()));
        });
        let cost = nested() - before;
        assert!((cost - expected).abs() <= 1, "{cost}, {expected}");
    });
}

#[test]
fn light_calls_take_at_most_half_of_a_timed_one() {
    simulated(["cheap"], |[cheap]| {
        let timed = TIMED.with(|timed| *timed);
        call_timed(timed, || {});
        let before = nested();
        call_timed(timed, || {
            (0..1000).for_each(|_| call(cheap, || {}));
            // Less than they are calibrated to cost.
            script::run(100);
        });
        let cost = nested() - before;
        assert!((40..=60).contains(&cost), "{cost}");
    });
}
