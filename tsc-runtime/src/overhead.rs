//! What a probe costs: measured with the very code that the attribute inlines, when the first callsite of a fence policy is
//! called, and again for every report, since the core clock wanders and the fences cost core cycles.

use parking_lot::Mutex;

use crate::callsite::{Callsite, EmptyCalls, Meta};
use crate::probe::{Probe, Slot};
use crate::record::Record;
use crate::thread;
use crate::tsc::{Fence, Lfence, Pair, Ticks, escape, result};
use crate::clock;

/// The cost of a probe that measures nothing, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Overhead {
    /// What lies between the two reads: every raw measurement contains it.
    pub(crate) visible: f64,
    /// What a caller pays for the probe in all.
    pub(crate) total: f64,
}

/// All measurements of one fence policy.
#[derive(Clone, Copy)]
struct Measurements {
    /// `None` until a callsite of this policy is called.
    empty_calls: Option<EmptyCalls>,
    sum: Overhead,
    count: u32,
}

static MEASUREMENTS: Mutex<[Measurements; Fence::ALL.len()]> = Mutex::new(
    [Measurements { empty_calls: None, sum: Overhead { visible: 0.0, total: 0.0 }, count: 0 }; Fence::ALL.len()],
);

/// Calls in a round: long enough for the loop's ends not to matter, short enough for most rounds to pass undisturbed.
const CALLS: u32 = 32;
const MIN_ROUNDS: usize = 9;
const MAX_ROUNDS: usize = 301;
/// No more rounds once this much has gone by: 2 to 3 ms at common rates.
const ENOUGH: Ticks = 6_000_000;

/// Measures the overhead of `callsite`'s fence policy, unless that has been done.
pub(crate) fn calibrate(callsite: &Callsite) {
    let fence = callsite.fence();
    if MEASUREMENTS.lock()[fence as usize].empty_calls.is_none() {
        let empty_calls = callsite.empty_calls();
        let overhead = measure(empty_calls);
        MEASUREMENTS.lock()[fence as usize].add(empty_calls, overhead);
    }
}

/// Measures once more for every policy in use.
pub(crate) fn recalibrate() {
    let measured = *MEASUREMENTS.lock();
    for (index, measurements) in measured.into_iter().enumerate() {
        if let Some(empty_calls) = measurements.empty_calls {
            let overhead = measure(empty_calls);
            MEASUREMENTS.lock()[index].add(empty_calls, overhead);
        }
    }
}

/// The mean of all measurements of a policy; 0 of one that is not in use.
pub(crate) fn of(fence: Fence) -> Overhead {
    let measurements = &MEASUREMENTS.lock()[fence as usize];
    let count = f64::from(measurements.count.max(1));
    Overhead {
        visible: measurements.sum.visible / count,
        total: measurements.sum.total / count,
    }
}

impl Measurements {
    fn add(&mut self, empty_calls: EmptyCalls, overhead: Overhead) {
        self.empty_calls = Some(empty_calls);
        self.sum.visible += overhead.visible;
        self.sum.total += overhead.total;
        self.count += 1;
    }
}

/// Interleaved rounds of annotated and bare calls; medians over the rounds. Leaves this thread's sums and table as they were.
fn measure(empty_calls: EmptyCalls) -> Overhead {
    let record = Record::new(0, 0);
    let mut visible = Vec::with_capacity(MAX_ROUNDS);
    let mut total = Vec::with_capacity(MAX_ROUNDS);
    let thread = thread::this();
    let table: [*const Record; 1] = [&raw const record];
    thread.with_table(&table, || {
        let began = clock::now();
        while visible.len() < MIN_ROUNDS || (visible.len() < MAX_ROUNDS && clock::now() - began < ENOUGH) {
            let before = record.samples();
            let start = clock::now();
            (empty_calls.annotated)(CALLS);
            let middle = clock::now();
            (empty_calls.bare)(CALLS);
            let stop = clock::now();
            let after = record.samples();
            visible.push((after.1 - before.1) as f64 / (after.0 - before.0).max(1) as f64);
            total.push(((middle - start) as f64 - (stop - middle) as f64) / f64::from(CALLS));
        }
    });
    Overhead { visible: median(&mut visible), total: median(&mut total).max(0.0) }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Stands for the annotated function in calibration. Every thread's table has place 0 for it.
static CALIBRATION: Callsite = Callsite::numbered::<Lfence>(
    0,
    Meta { name: Some("overhead"), path: || "", module: module_path!(), file: file!(), line: line!(), unit: None },
);

pub(crate) const fn empty_calls<P: Pair>() -> EmptyCalls {
    EmptyCalls { annotated: call_annotated::<P>, bare: call_bare }
}

// `inline`, so that these are compiled in the crate that has the callsite, with its optimisation level.
#[inline]
fn call_annotated<P: Pair>(calls: u32) {
    call(calls, annotated::<P>);
}

#[inline]
fn call_bare(calls: u32) {
    call(calls, bare);
}

#[inline(always)]
fn call(calls: u32, function: fn(u64) -> u64) {
    // Unknown to the compiler, or it would see that the bare function does nothing and not call it.
    let function = core::hint::black_box(function);
    let mut value = u64::from(calls);
    for _ in 0..calls {
        value = function(value);
    }
    escape(&value);
}

#[inline(never)]
fn annotated<P: Pair>(value: u64) -> u64 {
    escape(&value);
    let mut slot = Slot::new();
    let _probe = Probe::<P>::start(&CALIBRATION, &mut slot);
    result({ value })
}

#[inline(never)]
fn bare(value: u64) -> u64 {
    value
}
