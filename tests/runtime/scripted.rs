//! Figures that are exact to the tick, with a simulated counter: results that a reader can compute by hand, and situations that a real
//! counter does not produce on purpose.
#![cfg(target_arch = "x86_64")]

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tests::row;
use tsc_runtime::__private::{Callsite, simulate_time};
use tsc_runtime::tsc::{Fence, FencePolicy, Ticks, Unfenced};
use tsc_runtime::{CallsiteReport, snapshot};

/// The ticks between the two reads of a call without a given length. Such calls are those of calibration.
const VISIBLE: i64 = 40;

/// The ticks of each simulated cold path.
const COLD_PATH: u64 = 7_000;

thread_local! {
    static STARTS: RefCell<Vec<Ticks>> = const { RefCell::new(Vec::new()) };
    /// The length of the call that stops next.
    static LASTS: Cell<Option<i64>> = const { Cell::new(None) };
}

/// Held by each test. A snapshot calibrates the probes again, and what a test computes by hand must not change meanwhile.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Scripted;

impl FencePolicy for Scripted {
    const FENCE: Fence = Fence::Lfence;

    /// The real counter's value, because the interruption detector compares the start with it.
    fn start() -> Ticks {
        let start = Unfenced::start();
        STARTS.with_borrow_mut(|starts| starts.push(start));
        start
    }

    fn stop() -> Ticks {
        let start = STARTS.with_borrow_mut(|starts| starts.pop().expect("a start comes first"));
        start.wrapping_add_signed(LASTS.take().unwrap_or(VISIBLE))
    }
}

fn callsite(name: &str) -> &'static Callsite {
    tests::callsite::<Scripted>(name)
}

/// Calls `calls` with new callsites in simulated time, and returns the callsites' rows.
fn simulated<const N: usize>(
    names: [&str; N],
    calls: impl FnOnce([&'static Callsite; N]),
) -> [CallsiteReport; N] {
    simulate_time(COLD_PATH);
    calls(names.map(callsite));
    names.map(row)
}

/// A call that calls `inside` and lasts `raw` raw ticks.
fn call_around(callsite: &'static Callsite, raw: i64, inside: impl FnOnce()) {
    tests::call::<Scripted>(callsite, || {
        inside();
        LASTS.set(Some(raw));
    });
}

fn call(callsite: &'static Callsite, raw: i64) {
    call_around(callsite, raw, || {});
}

/// The dump's lines below the row of `name`.
fn notes(name: &str) -> String {
    let dump = format!("{:#}", snapshot());
    let row = format!(":CLK: {name} ");
    let lines = dump.lines().skip_while(|line| !line.starts_with(&row));
    let below = lines.skip(1).take_while(|line| line.starts_with("      "));
    below.collect::<Vec<_>>().join("\n")
}

#[test]
fn backward_and_absurd_differences_are_anomalies() {
    let _alone = alone();
    let [row] = simulated(["anomalous"], |[site]| {
        call(site, 1_000);
        for raw in [-1, i64::MIN, -2_600_000_000, 1 << 62, i64::MAX] {
            call(site, raw);
        }
        (0..10).for_each(|_| call(site, 1_000));
    });
    assert_eq!((row.calls(), row.anomalies(), row.running()), (16, 5, 0));
    assert_eq!(
        (row.raw_ticks(), row.total_ticks()),
        (11_000.0, 11.0 * 960.0)
    );
    let notes = notes(row.name());
    assert!(notes.contains("5 calls not measured"), "{notes}");
}

#[test]
fn counter_that_is_reset_inside_a_call_spoils_that_call_alone() {
    let _alone = alone();
    let names = ["around", "reset inside", "inside the reset call"];
    let [around, outer, inner] = simulated(names, |[around, outer, inner]| {
        for raw in [50_000, -7_000_000, 50_000] {
            call_around(around, 60_000, || {
                call_around(outer, raw, || call(inner, 2_000));
            });
        }
    });
    assert_eq!((outer.calls(), outer.anomalies()), (3, 1));
    assert_eq!((inner.calls(), inner.anomalies()), (3, 0));
    assert_eq!((outer.raw_ticks(), inner.raw_ticks()), (100_000.0, 6_000.0));
    assert!(outer.total_ticks() < 100_000.0 && outer.total_ticks() > 0.0);
    assert_eq!(inner.total_ticks(), 3.0 * 1_960.0);
    let own = around.self_ticks() + outer.self_ticks() + inner.self_ticks();
    assert_eq!(own, around.total_ticks());
}

#[test]
fn what_the_histogram_cannot_hold_is_told() {
    let _alone = alone();
    let [short, long] = simulated(["short enough", "saturated"], |[short, long]| {
        (0..100).for_each(|_| call(short, 1_000));
        call(long, 1_000);
        (0..5).for_each(|_| call(long, 1 << 50));
    });
    assert_eq!((short.saturated(), long.saturated()), (0, 5));
    assert_eq!(long.max_ticks(), Some((1_i64 << 50) as f64 - 40.0));
    let notes = notes(long.name());
    assert!(notes.contains("over 30 hours"), "{notes}");
}

/// The ticks of a simulated timer interrupt.
const INTERRUPT: i64 = 9_000;
const CALLS: i64 = 4_000;
const GAPS: i64 = 5;

#[test]
fn mean_is_told_to_be_too_high_by_what_gaps_hold() {
    let _alone = alone();
    let [row] = simulated(["with gaps"], |[site]| {
        call(site, 2_040);
        for n in 0..CALLS {
            let spread = n % 5 * 10;
            let gap = if n % (CALLS / GAPS) == 7 {
                INTERRUPT
            } else {
                0
            };
            call(site, 2_040 + spread + gap);
        }
    });
    let calls = (1 + CALLS) as f64;
    let net_mean = (2_000.0 + 2_020.0 * CALLS as f64) / calls;
    let stolen = (GAPS * INTERRUPT) as f64 / calls;
    assert_eq!((row.samples(), row.outliers()), (CALLS as u64, GAPS as u64));
    assert!((row.mean_ticks().unwrap() - net_mean - stolen).abs() < 1e-6);
    let of_mean = row.outlier_excess_mean_ticks().unwrap();
    assert!((of_mean / stolen - 1.0).abs() < 0.3, "{of_mean}, {stolen}");
    // Without this excess, the mean is right to within the systematic error, which is that of calibration.
    let mean = row.mean_ticks().unwrap() - of_mean;
    let systematic = row.systematic_error_ticks().unwrap();
    assert!((mean - net_mean).abs() < systematic, "{mean}");
    assert!((5.0..6.0).contains(&systematic), "{systematic}");
    let share = row.outlier_excess_share().unwrap();
    assert!((share * row.total_ticks() / CALLS as f64 / of_mean - 1.0).abs() < 0.01);
    let notes = notes("with gaps");
    assert!(
        notes.contains("; outliers (") && notes.contains(" to the mean"),
        "{notes}"
    );
}

/// All corrections can be computed again from the JSON alone.
#[test]
fn every_correction_can_be_redone_by_hand() {
    let _alone = alone();
    let names = ["by hand", "by hand, inside"];
    let rows = simulated(names, |[outer, inner]| {
        for n in 1..=20 {
            call_around(outer, 100_000 + 1_000 * n, || {
                (0..n).for_each(|_| call(inner, 1_000));
            });
        }
    });
    let [outer, inner] = rows.each_ref().map(CallsiteReport::name);
    let json = serde_json::to_value(snapshot()).expect("a report is plain data");
    let rows = json["callsites"].as_array().expect("a list");
    let row = |name: &str| {
        let row = rows.iter().find(|row| row["name"] == name);
        row.expect("the callsite was called").clone()
    };
    let overhead = &json["clock"]["overheads"][0];
    let figure = |of: &serde_json::Value, key: &str| of[key].as_f64().expect("a number");
    assert_eq!(figure(overhead, "visible_ticks"), VISIBLE as f64);
    for (name, calls, raw) in [(outer, 20.0, 2_210_000.0), (inner, 210.0, 210_000.0)] {
        let row = row(name);
        assert_eq!(figure(&row, "calls"), calls);
        assert_eq!(figure(&row, "raw_ticks"), raw);
        assert_eq!(
            figure(&row, "visible_overhead_ticks"),
            calls * figure(overhead, "visible_ticks")
        );
        let corrections = figure(&row, "visible_overhead_ticks")
            + figure(&row, "nested_overhead_ticks")
            + figure(&row, "registration_overhead_ticks");
        assert_eq!(figure(&row, "overhead_ticks"), corrections);
        assert_eq!(figure(&row, "wall_ticks"), raw - corrections);
    }
    // 210 probes are nested in the 20 calls. Each counts with the overhead that was calibrated when its record was made, in whole ticks.
    let nested = figure(&row(outer), "nested_overhead_ticks");
    let each = nested / 210.0;
    assert_eq!(each, each.round(), "{nested}");
    assert!(each > VISIBLE as f64, "{nested}");
    assert!(each < 3.0 * figure(overhead, "total_ticks"), "{nested}");
    // The first call has registered the inner callsite.
    let registration = figure(&row(outer), "registration_overhead_ticks");
    assert_eq!(registration, COLD_PATH as f64);
    for key in ["nested_overhead_ticks", "registration_overhead_ticks"] {
        assert_eq!(figure(&row(inner), key), 0.0);
    }
}

#[test]
fn statistics_can_be_redone_by_hand() {
    let _alone = alone();
    let raws: Vec<i64> = (0..30).map(|n| 1_000 + n * n).collect();
    let [row] = simulated(["statistics"], |[site]| {
        call(site, 9_999);
        raws.iter().for_each(|&raw| call(site, raw));
    });
    assert_eq!(row.samples(), raws.len() as u64);
    let nets: Vec<f64> = raws.iter().map(|&raw| (raw - VISIBLE) as f64).collect();
    let n = nets.len() as f64;
    let mean = nets.iter().sum::<f64>() / n;
    let variance = nets.iter().map(|net| (net - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let near = |figure: Option<f64>, expected: f64| {
        let figure = figure.expect("there are samples");
        assert!(
            (figure / expected - 1.0).abs() < 1e-9,
            "{figure} {expected}"
        );
    };
    // The first call is no sample, but it is in the mean, and by how much it changes the mean is in the error.
    near(row.mean_ticks(), (mean * n + 9_959.0) / (n + 1.0));
    near(row.stddev_ticks(), variance.sqrt());
    let changed = (9_959.0 - mean) / (n + 1.0);
    near(
        row.std_error_ticks(),
        (variance / n + changed.powi(2)).sqrt(),
    );
    near(row.min_ticks(), nets[0]);
    near(row.max_ticks(), nets[29]);
    near(row.first_ticks(), 9_959.0);
    near(row.min_raw_ticks(), 1_000.0);
    // Quantiles to 1/64 of the raw ticks.
    let p50 = row.p50_ticks().expect("there are samples");
    assert!((p50 - nets[14]).abs() <= raws[14] as f64 / 64.0, "{p50}");
}

/// Thirty seconds at 2.6 GHz each, an hour in all.
#[test]
fn long_calls_are_exact() {
    let _alone = alone();
    const LONG: i64 = 78_000_000_000;
    const AROUND: i64 = LONG + 5_000;
    const CALLS: u64 = 120;
    let [outer, inner] = simulated(["long, around", "long"], |[outer, inner]| {
        for _ in 0..CALLS {
            call_around(outer, AROUND, || call(inner, LONG));
        }
    });
    for row in [&outer, &inner] {
        assert_eq!((row.calls(), row.anomalies()), (CALLS, 0));
    }
    let sum = |raw: i64| (CALLS as i64 * raw) as f64;
    assert_eq!(
        (outer.raw_ticks(), inner.raw_ticks()),
        (sum(AROUND), sum(LONG))
    );
    assert_eq!(inner.total_ticks(), sum(LONG - VISIBLE));
    assert_eq!((outer.saturated(), inner.saturated()), (0, 0));
}

/// A policy whose calls are not recorded at first: their counter goes backwards.
struct Backward;

static IS_BACKWARD: AtomicBool = AtomicBool::new(true);

impl FencePolicy for Backward {
    const FENCE: Fence = Fence::Unfenced;

    fn start() -> Ticks {
        Scripted::start()
    }

    fn stop() -> Ticks {
        let stop = Scripted::stop();
        if IS_BACKWARD.load(Ordering::Relaxed) {
            stop - 2 * VISIBLE.cast_unsigned()
        } else {
            stop
        }
    }
}

/// If no call of a calibration is recorded, its result is unknown, and not 0.
#[test]
fn calibration_without_recorded_calls_does_not_count() {
    let _alone = alone();
    simulate_time(COLD_PATH);
    tests::call::<Backward>(tests::callsite::<Backward>("backward"), || ());
    let visible = || {
        let report = snapshot();
        let overheads = report.clock().overheads();
        let of = overheads
            .iter()
            .find(|of| of.fence() == Fence::Unfenced.name());
        of.expect("the policy is in use").visible_ticks()
    };
    assert_eq!(visible(), 0.0);
    IS_BACKWARD.store(false, Ordering::Relaxed);
    assert_eq!(visible(), VISIBLE as f64);
}
