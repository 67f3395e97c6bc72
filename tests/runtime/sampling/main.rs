//! Callsites of which only some calls are timed: the estimates for all calls, and their errors. The counter is simulated, and a seed
//! determines which calls are timed, so that every run is the same.
#![cfg(target_arch = "x86_64")]

mod futures;
mod nesting;

use std::cell::Cell;

use tests::sampled_callsite;
use tsc_runtime::__private::{Callsite, seed_sampling, simulate_time};
use tsc_runtime::tsc::{Fence, FencePolicy, Ticks, Unfenced};
use tsc_runtime::{CallsiteReport, cycles, snapshot};

/// A simulated counter, which advances only when a call advances it.
struct Scripted;

thread_local! {
    // Ahead of the real counter, so that no simulated call starts before the real time at which the detector is armed.
    static NOW: Cell<Ticks> = Cell::new(Unfenced::start() + (1 << 50));
    /// The number of reads of the counter.
    static READS: Cell<u64> = const { Cell::new(0) };
}

fn read() -> Ticks {
    READS.set(READS.get() + 1);
    NOW.get()
}

impl FencePolicy for Scripted {
    const FENCE: Fence = Fence::Lfence;

    fn start() -> Ticks {
        read()
    }

    fn stop() -> Ticks {
        read()
    }
}

/// A call of `callsite` that takes `ticks` in addition to the ticks of `inside`.
fn call_around(callsite: &'static Callsite, ticks: u64, inside: impl FnOnce()) {
    tests::call::<Scripted>(callsite, || {
        NOW.set(NOW.get() + ticks);
        inside();
    });
}

fn call(callsite: &'static Callsite, ticks: u64) {
    call_around(callsite, ticks, || {});
}

/// Makes this thread's time simulated. The random numbers of `seed` determine which calls are timed.
fn simulate(seed: u64) {
    seed_sampling(seed);
    simulate_time(0);
}

/// The generator of the seeds: SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    /// A random number from 0 to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The rows of callsites `name 0` to `name {TRIES - 1}`, in that order.
fn tries(name: &str) -> Vec<CallsiteReport> {
    let report = snapshot();
    let of = |index: usize| {
        let row = report.callsite(&format!("{name} {index}"));
        row.expect("the function was called").clone()
    };
    (0..TRIES).map(of).collect()
}

const TRIES: usize = 200;
const CALLS: u64 = 20_000;
const EVERY: u32 = 64;

/// The number of calls that are timed: one in each group, of one call at first, and then of up to a quarter as many as were called before.
fn timed_of(calls: u64, every: u64) -> u64 {
    let (mut timed, mut grouped) = (0, 0);
    while grouped < calls {
        let group = 1 << u64::max(grouped / 4, 1).ilog2();
        grouped += every.min(group);
        timed += 1;
    }
    timed
}

/// Makes calls of the lengths that `lasts` returns: 200 tries, each with its own callsite and its own seed. In 99 % of the tries, the mean
/// of the timed calls must differ from the mean of all calls by at most three standard errors. The standard errors must be right, too.
fn check(name: &str, mut lasts: impl FnMut(&mut Random, u64) -> u64) {
    let mut truths = Vec::new();
    for index in 0..TRIES {
        let callsite = sampled_callsite::<Scripted>(format!("{name} {index}"), Some(EVERY));
        let mut random = Random(index as u64);
        simulate(random.next());
        // The first call is not a sample.
        call(callsite, 77_777);
        let mut sum = 0;
        for number in 0..CALLS {
            let ticks = lasts(&mut random, number);
            sum += ticks;
            call(callsite, ticks);
        }
        truths.push(sum as f64 / CALLS as f64);
    }
    let rows = tries(name);
    let visible = rows[0].mean_raw_ticks().expect("there are samples")
        - rows[0].total_ticks() / rows[0].calls() as f64;
    let mut within = 0;
    let (mut squares, mut stated) = (0.0, 0.0);
    for (row, truth) in rows.iter().zip(&truths) {
        assert_eq!(row.calls(), CALLS + 1);
        assert_eq!(row.sample(), Some(EVERY.into()));
        let timed = row.timed().expect("not all were timed");
        let expected = timed_of(CALLS, EVERY.into());
        assert!(timed.abs_diff(expected) <= 2, "{timed}, not {expected}");
        let error = row.std_error_ticks().expect("there are samples");
        let off = row.mean_ticks().expect("there are samples") + visible_of(row) - truth;
        within += usize::from(off.abs() <= 3.0 * error + 1e-6);
        squares += off * off;
        stated += error * error;
    }
    assert!(within >= TRIES * 99 / 100, "{name}: {within}, {visible}");
    if stated > 0.0 {
        // From 200 tries, the standard deviation is known to 5 %.
        let ratio = (squares / stated).sqrt();
        assert!((0.8..=1.2).contains(&ratio), "{name}: {ratio}");
    }
}

/// The overhead that was subtracted from each call.
fn visible_of(row: &CallsiteReport) -> f64 {
    let sums = row.sums();
    sums.visible_milliticks() as f64 / 1000.0 / (sums.samples() + sums.firsts()) as f64
}

#[test]
fn constant_calls_have_no_error() {
    check("constant", |_, _| 500);
}

#[test]
fn bimodal_calls_are_unbiased() {
    check(
        "bimodal",
        |random, _| if random.share() < 0.1 { 9_000 } else { 300 },
    );
}

#[test]
fn heavy_tailed_calls_are_unbiased() {
    // A Pareto distribution whose exponent is above 4, so that the fourth moment, and with it the error of the standard error, is finite.
    check("heavy-tailed", |random, _| {
        (200.0 * (1.0 - random.share()).powf(-1.0 / 4.5)) as u64
    });
}

#[test]
fn periodic_calls_are_unbiased() {
    for period in [2, 64, 65] {
        check(&format!("period {period}"), |_, number| {
            if number % period < period / 2 {
                1_500
            } else {
                400
            }
        });
    }
}

#[test]
fn calls_that_depend_on_their_caller_are_unbiased() {
    // Some callers make three short calls, and others a single long one.
    let mut left = 0;
    let mut length = 0;
    check("by caller", |random, _| {
        if left == 0 {
            (left, length) = if random.share() < 0.5 {
                (3, 250)
            } else {
                (1, 2_000)
            };
        }
        left -= 1;
        length
    });
}

/// Of a function that is called a few times, enough calls are timed to stand for all.
#[test]
fn totals_of_few_calls_are_those_of_all_calls() {
    for calls in 1..300 {
        let callsite = sampled_callsite::<Scripted>(format!("few {calls}"), Some(4_096));
        simulate(calls);
        (0..calls).for_each(|_| call(callsite, 1_000_000));
    }
    let report = snapshot();
    for calls in 1..300_u64 {
        let row = report.callsite(&format!("few {calls}"));
        let row = row.expect("the function was called");
        let off = row.total_ticks() - 1e6 * calls as f64;
        let error = row.total_std_error_ticks().unwrap_or_default();
        // The probes' cost is subtracted, although they take no simulated ticks.
        let allowed = error + 1e3 * calls as f64;
        assert!(off.abs() <= allowed, "{calls} calls: {off}, {error}");
        assert!(error <= 0.3e6 * calls as f64, "{calls} calls: {error}");
        if calls < 8 {
            assert_eq!(row.timed(), Some(calls));
        }
    }
}

#[test]
fn counted_calls_do_not_read_the_counter() {
    let callsite = sampled_callsite::<Scripted>("reads", Some(EVERY));
    simulate(1);
    call(callsite, 100);
    let before = READS.get();
    (0..6_400).for_each(|_| call(callsite, 100));
    let reads = READS.get() - before;
    // The counter is read at the start and the stop of timed calls and of the warm-ups before them. A call that is timed right after another
    // one has none.
    let timed = timed_of(6_400, EVERY.into());
    assert!((3 * timed..=4 * timed + 4).contains(&reads), "{reads}");
}

/// The remarks below a row of the dump.
fn remarks(name: &str) -> String {
    let text = snapshot().to_string();
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let (_, row) = text
        .split_once(&format!(":CLK: {name} "))
        .expect("the function was called");
    row.split(":CLK:").next().unwrap_or(row).to_owned()
}

#[test]
fn dump_states_large_standard_errors() {
    let [tail, constant] = ["errors: tail", "errors: constant"]
        .map(|name| sampled_callsite::<Scripted>(name, Some(EVERY)));
    simulate(7);
    for number in 0..6_400 {
        call(tail, if number % 16 == 0 { 1_000_000 } else { 100 });
        call(constant, 1_000);
    }
    let tail = remarks("errors: tail");
    assert!(tail.contains("timed, now one in 64: total ± "), "{tail}");
    let constant = remarks("errors: constant");
    assert!(constant.contains("timed, now one in 64"), "{constant}");
    assert!(!constant.contains("64: total"), "{constant}");
}

#[test]
fn same_seed_times_the_same_calls() {
    let mean = |name: &str| {
        let callsite = sampled_callsite::<Scripted>(name, Some(16));
        simulate(42);
        (0..5_000).for_each(|number| call(callsite, 100 + number));
        tests::row(name).mean_raw_ticks()
    };
    let once = mean("seed, once");
    assert!(once.is_some());
    assert_eq!(once, mean("seed, once more"));
}

#[test]
fn counts_are_exact_on_all_threads_and_of_all_types() {
    #[cycles(name = "sampled on threads", sample = 16, bytes = bytes)]
    fn count(bytes: usize) {
        std::hint::black_box(bytes);
    }
    #[cycles(name = "sampled type", sample = 5, per_type)]
    fn generic<T>(value: T) -> T {
        value
    }
    const CALLS: u64 = 1_003;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..CALLS {
                    count(3);
                    generic(1_u8);
                    generic(1_u32);
                }
            });
        }
    });
    let row = tests::row("sampled on threads");
    assert_eq!((row.calls(), row.threads()), (4 * CALLS, 4));
    assert_eq!(row.units(), Some(3 * 4 * CALLS));
    let report = snapshot();
    let types = report
        .callsites()
        .iter()
        .filter(|row| row.name().starts_with("sampled type"));
    let calls: Vec<u64> = types.map(CallsiteReport::calls).collect();
    assert_eq!(calls, [4 * CALLS; 2]);
}
