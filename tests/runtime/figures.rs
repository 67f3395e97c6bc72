//! The meaning of a callsite's figures. No test here asserts an absolute time: work is a loop until a given number of ticks has passed, so
//! sums have a lower bound that does not depend on the scheduler, and reads around a call give the upper bound.

use tests::row;
use tsc_runtime::tsc::{FencePolicy, Unfenced, escape};
use tsc_runtime::{CallsiteReport, cycles, snapshot};

/// Runs for at least `ticks`.
fn spin(ticks: u64) {
    let start = Unfenced::start();
    while Unfenced::start().wrapping_sub(start) < ticks {}
}

/// An upper bound of the ticks that `f` takes: it includes the two reads.
fn around(f: impl FnOnce()) -> f64 {
    let start = Unfenced::start();
    f();
    Unfenced::start().wrapping_sub(start) as f64
}

/// Ticks of one spin: hundreds of times the cost of a probe.
const WORK: u64 = 50_000;
/// The same where one call has many probes inside, of which each may cost some ticks less than is subtracted.
const LONG_WORK: u64 = 20 * WORK;
/// Net figures must be at least this share of the spun ticks: the calibrated overhead is not exact, and figures are rounded.
const NEARLY: f64 = 0.99;

#[cycles(name = "counted")]
fn counted(value: u64) -> u64 {
    value ^ 0x55
}

/// The self ticks and the time waiting for a CPU: what a spin that lasts by the wall takes at most.
fn wall_of_self(row: &CallsiteReport) -> f64 {
    row.self_ticks() + row.wall_ticks() - row.total_ticks()
}

#[test]
fn every_call_is_counted() {
    for n in 0..12_345 {
        counted(n);
    }
    let row = row("counted");
    assert_eq!(row.calls(), 12_345);
    assert_eq!(row.running(), 0);
    assert_eq!(row.threads(), 1);
    // The first call is counted separately, even if it was interrupted.
    let others = row.samples() + row.excluded().unwrap_or(0);
    assert_eq!((others, row.anomalies()), (12_344, 0), "{row:?}");
}

#[test]
fn held_samples_are_reported_at_any_number_of_calls() {
    #[cycles(name = "held")]
    fn held() {}
    for calls in 1..100 {
        held();
        assert_eq!(row("held").calls(), calls);
    }
}

#[test]
fn first_call_is_apart() {
    #[cycles(name = "cold once")]
    fn cold_once(ticks: u64) {
        spin(ticks);
    }
    cold_once(100 * WORK);
    (0..101).for_each(|_| cold_once(100));
    let row = row("cold once");
    // The spin lasts by the wall. If the thread waited for a CPU meanwhile, that is not in the first call's ticks.
    let waiting = row.wall_ticks() - row.total_ticks();
    assert!(row.first_ticks().unwrap() + waiting >= 100.0 * WORK as f64 * NEARLY);
    assert!(row.p50_ticks().unwrap() < WORK as f64);
    assert!(row.min_ticks().unwrap() < WORK as f64);
    // The first call is included in the number of calls and in the total.
    assert_eq!(row.calls(), 102);
    assert!(row.wall_ticks() >= 100.0 * WORK as f64 * NEARLY);
}

#[test]
fn recursion_counts_each_tick_once() {
    const DEPTH: u64 = 10;
    const WORK: u64 = LONG_WORK;
    #[cycles(name = "recursive")]
    fn recursive(depth: u64) {
        spin(WORK);
        if depth > 1 {
            recursive(depth - 1);
        }
    }
    let around: f64 = (0..20).map(|_| around(|| recursive(DEPTH))).sum();
    let row = row("recursive");
    assert_eq!(row.calls(), 20 * DEPTH);
    let spun = (20 * DEPTH * WORK) as f64;
    assert!(
        row.wall_ticks() >= spun * NEARLY && row.wall_ticks() <= around,
        "{spun} <= {} <= {around}",
        row.wall_ticks()
    );
    assert!(
        wall_of_self(&row) >= spun * NEARLY && row.self_ticks() <= around,
        "{spun} <= {} <= {around}",
        row.self_ticks()
    );
}

#[test]
fn outer_calls_of_a_recursion_are_no_outliers() {
    /// A tree of calls: most are leaves, and the few at the top last as long as all below them.
    #[cycles(name = "tree of calls")]
    fn tree(levels: u32) {
        spin(200);
        if levels > 1 {
            tree(levels - 1);
            tree(levels - 1);
        }
    }
    #[cycles(name = "tree by turns")]
    fn one(levels: u32) {
        spin(200);
        if levels > 1 {
            other(levels - 1);
            other(levels - 1);
        }
    }
    #[cycles(name = "tree by other turns")]
    fn other(levels: u32) {
        one(levels);
    }
    tree(12);
    one(12);
    let text = snapshot().to_string();
    for name in ["tree of calls", "tree by turns", "tree by other turns"] {
        assert_eq!(row(name).outliers(), 0, "{name}");
        let (_, row_and_rest) = text.split_once(&format!(":CLK: {name} ")).unwrap();
        let with_remarks = row_and_rest.split(":CLK:").next().unwrap();
        assert!(!with_remarks.contains(" of about "), "{with_remarks}");
    }
}

#[test]
fn mutual_recursion_counts_each_tick_once() {
    const WORK: u64 = LONG_WORK;
    #[cycles(name = "even")]
    fn even(n: u64) {
        spin(WORK);
        if n > 0 {
            odd(n - 1);
        }
    }
    #[cycles(name = "odd")]
    fn odd(n: u64) {
        spin(WORK);
        if n > 0 {
            even(n - 1);
        }
    }
    let around: f64 = (0..20).map(|_| around(|| even(9))).sum();
    let (even, odd) = (row("even"), row("odd"));
    assert_eq!((even.calls(), odd.calls()), (100, 100));
    let wall = [&even, &odd].map(CallsiteReport::wall_ticks);
    let spun = [200, 180].map(|calls| (calls * WORK) as f64);
    assert!(
        wall[0] >= spun[0] * NEARLY && wall[0] <= around,
        "{spun:?} <= {wall:?} <= {around}"
    );
    assert!(
        wall[1] >= spun[1] * NEARLY && wall[1] <= wall[0],
        "{spun:?} <= {wall:?} <= {around}"
    );
    let own = even.self_ticks() + odd.self_ticks();
    assert!(
        (own - even.total_ticks()).abs() <= even.total_ticks() / 100.0,
        "{own} of {}",
        even.total_ticks()
    );
}

#[test]
fn self_is_total_less_annotated_callees() {
    #[cycles(name = "caller")]
    fn caller() {
        spin(WORK);
        callee();
        not_annotated();
        callee();
    }
    #[cycles(name = "callee")]
    fn callee() {
        spin(2 * WORK);
    }
    fn not_annotated() {
        spin(WORK);
    }
    (0..50).for_each(|_| caller());
    let (caller, callee) = (row("caller"), row("callee"));
    assert_eq!((caller.calls(), callee.calls()), (50, 100));
    assert!(caller.wall_ticks() >= (50 * 6 * WORK) as f64 * NEARLY);
    assert!(wall_of_self(&caller) >= (50 * 2 * WORK) as f64 * NEARLY);
    assert!(callee.wall_ticks() >= (100 * 2 * WORK) as f64 * NEARLY);
    let difference = caller.total_ticks() - callee.total_ticks() - caller.self_ticks();
    assert!(
        difference.abs() <= caller.total_ticks() / 100.0,
        "{difference} of {}",
        caller.total_ticks()
    );
}

#[test]
fn nested_probes_cost_their_callers_nothing() {
    /// Few, so that hardly any of the calls around them is preempted.
    const CALLS: u64 = 200;
    #[cycles(name = "looping")]
    fn looping() {
        for n in 0..CALLS {
            empty(n);
        }
    }
    #[cycles(name = "empty")]
    fn empty(n: u64) -> u64 {
        n
    }
    let least = (0..500).map(|_| around(looping)).reduce(f64::min).unwrap();
    let row = row("looping");
    let net = row.min_ticks().unwrap();
    assert!(net < 0.5 * least, "{net} of {least} ticks are left");
    // The net wall time is the raw time minus the overhead.
    let corrected = row.raw_ticks() - row.overhead_ticks();
    assert!(
        (corrected - row.wall_ticks()).abs() <= 1.0,
        "{corrected} is not {}",
        row.wall_ticks()
    );
    assert!(row.nested_overhead_ticks() > 0.0);
}

#[test]
fn report_inside_a_call_is_not_its_time() {
    #[cycles(name = "reporting")]
    fn reporting() {
        escape(&snapshot());
    }
    let around: f64 = (0..5).map(|_| around(reporting)).sum();
    let row = row("reporting");
    // Other processes may run between the report and the stop.
    let net = row.on_cpu_ticks().unwrap_or(row.total_ticks());
    assert!(net < around / 4.0, "{net} of {around}");
}

#[test]
fn every_way_out_is_recorded() {
    #[cycles(name = "ways out")]
    fn out(way: u32) -> Option<u32> {
        'block: {
            match way {
                0 => return Some(0),
                1 => None?,
                2 => break 'block,
                3 => panic!("on purpose"),
                _ => {}
            }
            return Some(way);
        }
        None
    }
    std::panic::set_hook(Box::new(|_| {}));
    for way in 0..5 {
        for _ in 0..10 {
            let _ = std::panic::catch_unwind(|| out(way));
        }
    }
    let _ = std::panic::take_hook();
    let row = row("ways out");
    assert_eq!((row.calls(), row.running()), (50, 0));
}

#[test]
fn unwinding_through_nested_calls_leaves_nothing_running() {
    #[cycles(name = "outermost")]
    fn outermost(depth: u32) {
        spin(WORK / 10);
        innermost(depth);
    }
    #[cycles(name = "innermost")]
    fn innermost(depth: u32) {
        if depth == 0 {
            std::panic::resume_unwind(Box::new(()));
        }
        outermost(depth - 1);
    }
    for _ in 0..10 {
        assert!(std::panic::catch_unwind(|| outermost(4)).is_err());
    }
    let (outermost, innermost) = (row("outermost"), row("innermost"));
    assert_eq!((outermost.calls(), innermost.calls()), (50, 50));
    assert_eq!((outermost.running(), innermost.running()), (0, 0));
    assert!(outermost.wall_ticks() >= (50 * WORK / 10) as f64 * NEARLY);
}

#[test]
fn calls_in_flight_are_running() {
    #[cycles(name = "in flight")]
    fn in_flight() -> u64 {
        row("in flight").running()
    }
    assert_eq!(in_flight(), 1);
    let row = row("in flight");
    assert_eq!((row.calls(), row.running()), (1, 0));
}

#[test]
fn every_fence_measures() {
    macro_rules! with {
        ($fence:literal) => {{
            #[cycles(name = $fence, fence = $fence)]
            fn work() {
                spin(WORK);
            }
            (0..10).for_each(|_| work());
            let row = row($fence);
            assert_eq!((row.fence(), row.calls()), ($fence, 10));
            assert!(row.raw_ticks() >= (10 * WORK) as f64, "{row:?}");
        }};
    }
    with!("lfence");
    with!("none");
    with!("rdtscp");
    with!("mfence");
    with!("serialize");
    with!("cpuid");
    with!("cpuid-start");
}
