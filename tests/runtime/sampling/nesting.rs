//! Calls inside of calls: self ticks and inclusive ticks.

use tests::sampled_callsite;
use tsc_runtime::__private::Callsite;
use tsc_runtime::snapshot;

use crate::{EVERY, NOW, Scripted, call, call_around, simulate, visible_of};

/// A root that is timed at every call has two levels of sampled callees. The estimates of self ticks are right on average, and add up to
/// the inclusive ticks of the root.
#[test]
fn self_ticks_add_up_to_the_roots_inclusive() {
    let root = sampled_callsite::<Scripted>("adds up: root", Some(1));
    let [branch, leaf] = ["adds up: branch", "adds up: leaf"]
        .map(|name| sampled_callsite::<Scripted>(name, Some(EVERY)));
    simulate(3);
    const BRANCHES: u64 = 30_000;
    call_around(root, 50_000, || {
        for number in 0..BRANCHES {
            call_around(branch, 400, || {
                for _ in 0..number % 3 {
                    call(leaf, 200);
                }
            });
        }
    });
    let report = snapshot();
    let of = |callsite: &str| {
        let name = format!("adds up: {callsite}");
        report.callsite(&name).expect("the function was called")
    };
    let [root, branch, leaf] = ["root", "branch", "leaf"].map(of);
    assert_eq!((branch.calls(), leaf.calls()), (BRANCHES, BRANCHES));
    let sum = root.self_ticks() + branch.self_ticks() + leaf.self_ticks();
    assert!((sum / root.total_ticks() - 1.0).abs() < 1e-9, "{sum}");
    // The probes take no simulated ticks, but their cost is subtracted nevertheless. So the expected ticks of a leaf call are 200 minus the
    // probe's visible overhead.
    let visible = visible_of(leaf);
    let expected = BRANCHES as f64 * (200.0 - visible);
    assert!((leaf.self_ticks() / expected - 1.0).abs() < 0.01);
    assert_eq!(leaf.self_ticks(), leaf.total_ticks());
    // The result is within four standard errors of the ticks without probes, minus the overhead that was subtracted for the probes.
    let error = branch.self_std_error_ticks();
    let error = error.expect("only some were timed");
    let expected = BRANCHES as f64 * (400.0 - visible) - branch.nested_overhead_ticks();
    let off = branch.self_ticks() - expected;
    assert!(off.abs() < 4.0 * error, "{off}, {error}");
    // The error is compared with the simulated ticks, because `expected` is near zero where probes cost as much as the work.
    let scripted = BRANCHES as f64 * 400.0;
    assert!(error < 0.5 * scripted, "{error} of {scripted}");
}

/// The inclusive ticks of a recursion are those of the outermost calls, whichever calls were timed.
#[test]
fn recursion_is_counted_once() {
    fn recurse(callsite: &'static Callsite, depth: u32) {
        call_around(callsite, 1_000, || {
            if depth > 1 {
                recurse(callsite, depth - 1);
            }
        });
    }
    const TREES: u64 = 20_000;
    const RUNS: usize = 40;
    for run in 0..RUNS {
        let callsite = sampled_callsite::<Scripted>(format!("recursion {run}"), Some(8));
        simulate(run as u64);
        (0..TREES).for_each(|_| recurse(callsite, 3));
    }
    let report = snapshot();
    let expected = TREES as f64 * 3_000.0;
    let of = |run: usize| {
        let name = format!("recursion {run}");
        let row = report.callsite(&name).expect("the function was called");
        assert_eq!(row.calls(), 3 * TREES);
        row.raw_ticks() / expected - 1.0
    };
    let off: Vec<f64> = (0..RUNS).map(of).collect();
    let mean = off.iter().sum::<f64>() / RUNS as f64;
    let squares: f64 = off.iter().map(|off| (off - mean).powi(2)).sum();
    let error = (squares / (RUNS * (RUNS - 1)) as f64).sqrt();
    assert!(mean.abs() < 3.0 * error && error < 0.02, "{mean}, {error}");
}

/// The self ticks of calls that stand for several are exact, also where calls of a callsite that is timed at every call come between. If
/// they were estimated from the sampled callees, each level would multiply the error.
#[test]
fn self_ticks_are_exact_however_deep_calls_nest() {
    const LEVELS: usize = 5;
    const CALLEES: u64 = 3;
    const OUTERMOST: u64 = 1_000;
    const RUNS: usize = 9;
    // The probes' cost is subtracted, although they take no simulated ticks. It must be small beside this.
    const TICKS: u64 = 1_000_000;
    /// This level is timed at every call. Its calls stand for no others, so the errors of the estimates inside are added and not multiplied.
    const EVERY_CALL: usize = 2;

    fn nest(callsites: &[&'static Callsite]) {
        let Some((callsite, inner)) = callsites.split_first() else {
            return;
        };
        call_around(callsite, TICKS, || {
            (0..CALLEES).for_each(|_| nest(inner));
        });
    }

    let name = |run: usize, level: usize| format!("exact {run}, level {level}");
    for run in 0..RUNS {
        let callsite = |level| {
            let sample = (level != EVERY_CALL).then_some(8);
            sampled_callsite::<Scripted>(name(run, level), sample)
        };
        let callsites: Vec<_> = (0..LEVELS).map(callsite).collect();
        simulate(run as u64);
        (0..OUTERMOST).for_each(|_| nest(&callsites));
    }
    let report = snapshot();
    for level in 0..LEVELS {
        let calls = OUTERMOST * CALLEES.pow(level as u32);
        let mut off: Vec<f64> = (0..RUNS)
            .map(|run| {
                let row = report.callsite(&name(run, level));
                let row = row.expect("the function was called");
                assert_eq!(row.calls(), calls);
                let expected = (calls * TICKS) as f64;
                (row.self_ticks() / expected - 1.0).abs()
            })
            .collect();
        off.sort_by(f64::total_cmp);
        let most = if level == EVERY_CALL { 0.5 } else { 0.05 };
        assert!(off[RUNS / 2] < most, "level {level}: {off:?}");
    }
}

/// A call that is timed for its caller's self ticks alone is counted once, also if the counter steps back during it.
#[test]
fn anomalous_callees_are_counted_once() {
    const CALLS: u64 = 400;
    let [caller, callee] = [("steps back: caller", 2), ("steps back: callee", EVERY)]
        .map(|(name, every)| sampled_callsite::<Scripted>(name, Some(every)));
    simulate(1);
    for _ in 0..CALLS {
        call_around(caller, 2_000_000, || {
            tests::call::<Scripted>(callee, || NOW.set(NOW.get() - 1_000_000));
        });
    }
    let [caller, callee] =
        ["caller", "callee"].map(|name| tests::row(&format!("steps back: {name}")));
    assert_eq!((caller.calls(), caller.anomalies()), (CALLS, 0));
    assert_eq!(callee.calls(), CALLS);
    assert!((1..CALLS / 8).contains(&callee.anomalies()));
    assert_eq!((caller.running(), callee.running()), (0, 0));
}
