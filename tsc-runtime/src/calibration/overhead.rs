//! What a probe costs: measured with the very code that the attribute inlines, when the first callsite of a fence policy is
//! called, and again for every report, since the core clock wanders and the fences cost core cycles.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::statistics::median;
use crate::process::PerProcess;
use crate::record::callsite::{Callsite, EmptyCalls};
use crate::record::contexts::{self, Contexts};
use crate::record::sampling::Mode;
use crate::record::table::{Entry, FIRST_LEN};
use crate::record::thread;
use crate::record::{BUFFER_LEN, Record};
use crate::tsc::clock;
use crate::tsc::{Fence, Ticks};

/// The cost of a probe that measures nothing, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Overhead {
    /// What lies between the two reads: every raw measurement contains it.
    pub(crate) visible: f64,
    /// What a caller pays for the probe in all.
    pub(crate) total: f64,
    /// What it pays beyond that for a probe which has others nested in it.
    pub(crate) nesting: f64,
    /// What it pays for a probe of a sampled callsite that times the call: one that stands for itself, and one for others too.
    pub(crate) sampled: [f64; 2],
    /// How far the visible overhead may be off, with its surroundings and over time.
    pub(crate) visible_error: f64,
    /// How far the total may be off in the same way.
    pub(crate) total_error: f64,
}

/// What the visible overhead differs by between surroundings: the compiler's choice of registers, the alignment of the code. Of 64
/// empty functions of eight signatures in one program, each beside code of another length, the means were 5.1 ticks less to 3.6
/// more than what was calibrated (a Xeon with AMX, 2.6 GHz); of five places on Zen 4, 59.4 to 65.5 ticks.
const SURROUNDINGS: f64 = 5.0;

/// What the cost of a call to its caller differs by between surroundings, in ticks, whether the call is timed or only counted. In programs
/// of functions of a few ticks each it was 3 to 8 ticks more than calibrated: the compiler cannot inline such a function any more, and
/// must keep its arguments in memory. Beside 20 ticks of other work it was 7 less, and beside 80 ticks 20 less: part of the recording
/// runs at the same time (EPYC, Zen 5, 2.6 GHz). The benchmark `fine_grained` prints what calls cost in programs.
pub(crate) const CALLER_SURROUNDINGS: f64 = 15.0;

/// All measurements of one fence policy.
#[derive(Clone, Copy)]
struct Measurements {
    /// `None` until a callsite of this policy is called.
    empty_calls: Option<EmptyCalls>,
    visible: Series,
    total: Series,
    nesting: Series,
    sampled: [Series; 2],
    /// What a call costs that is counted and not timed.
    counted: Series,
}

/// Repeated measurements of one cost.
#[derive(Clone, Copy)]
struct Series {
    count: u32,
    sum: f64,
    least: f64,
    greatest: f64,
}

impl Series {
    const EMPTY: Self = Self {
        count: 0,
        sum: 0.0,
        least: f64::MAX,
        greatest: 0.0,
    };

    fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
    }

    /// 0 of nothing.
    fn mean(&self) -> f64 {
        self.sum / f64::from(self.count.max(1))
    }

    fn half_range(&self) -> f64 {
        (self.greatest - self.least).max(0.0) / 2.0
    }
}

impl Default for Measurements {
    fn default() -> Self {
        Self {
            empty_calls: None,
            visible: Series::EMPTY,
            total: Series::EMPTY,
            nesting: Series::EMPTY,
            sampled: [Series::EMPTY; 2],
            counted: Series::EMPTY,
        }
    }
}

/// By fence policy.
type Table = [Measurements; Fence::ALL.len()];

static MEASUREMENTS: PerProcess<Mutex<Table>> = PerProcess::new();

/// The bits of each policy's mean visible overhead; 0.0 of one that is not in use.
static VISIBLE: [AtomicU64; Fence::ALL.len()] = [const { AtomicU64::new(0) }; Fence::ALL.len()];

/// Gives `f` all measurements, in the cold path, so that no signal handler wants the lock that its own thread holds.
fn with_measurements<T>(f: impl FnOnce(&mut Table) -> T) -> T {
    let busy = thread::this().enter_cold_path();
    let result = f(&mut MEASUREMENTS.get(|| {}).lock());
    drop(busy);
    result
}

/// In the child of a fork.
#[cfg(all(unix, not(miri)))] // elsewhere no process is forked
pub(crate) fn start_from_zero() {
    MEASUREMENTS.forget();
}

/// Calls in a round: long enough for the loop's ends not to matter, short enough for most rounds to pass undisturbed, and as many as
/// are folded at once, so that each round has its share of that.
const CALLS: u32 = BUFFER_LEN as u32;
/// One under Miri, where a probe takes milliseconds and no figure means anything.
const MIN_ROUNDS: usize = if cfg!(miri) { 1 } else { 9 };
const MAX_ROUNDS: usize = 301;
/// No more rounds once this much has gone by: 2 to 3 ms at common rates.
const ENOUGH: Ticks = 6_000_000;

/// Measures the overhead of `callsite`'s fence policy, unless that has been done.
pub(crate) fn calibrate(callsite: &Callsite) {
    let fence = callsite.fence();
    let is_measured = |table: &mut Table| table[fence as usize].empty_calls.is_some();
    if !with_measurements(is_measured) {
        let empty_calls = callsite.empty_calls();
        let overhead = measure(empty_calls);
        add(fence as usize, empty_calls, overhead);
    }
}

/// Measures once more for every policy in use.
pub(crate) fn recalibrate() {
    let measured = with_measurements(|table| *table);
    for (index, before) in measured.into_iter().enumerate() {
        if let Some(empty_calls) = before.empty_calls {
            let overhead = measure(empty_calls);
            add(index, empty_calls, overhead);
        }
    }
}

fn add(fence: usize, empty_calls: EmptyCalls, overhead: Costs) {
    let visible = with_measurements(|table| {
        table[fence].add(empty_calls, overhead);
        table[fence].visible.mean()
    });
    VISIBLE[fence].store(visible.to_bits(), Ordering::Relaxed);
}

/// The visible overhead alone, as [`of`] has it, without a lock: `stop!` asks at each call.
pub(crate) fn visible(fence: Fence) -> f64 {
    f64::from_bits(VISIBLE[fence as usize].load(Ordering::Relaxed))
}

/// The mean of all measurements of a policy; 0 of one that is not in use.
pub(crate) fn of(fence: Fence) -> Overhead {
    let measurements = with_measurements(|table| table[fence as usize]);
    Overhead {
        visible: measurements.visible.mean(),
        total: measurements.total.mean(),
        nesting: measurements.nesting.mean(),
        sampled: measurements.sampled.map(|series| series.mean()),
        visible_error: SURROUNDINGS + measurements.visible.half_range(),
        total_error: CALLER_SURROUNDINGS + measurements.total.half_range(),
    }
}

/// What a call costs its caller that is counted and not timed: the mean over all policies in use, since it reads no counter.
pub(crate) fn counted() -> f64 {
    let (sum, count) = with_measurements(|table| {
        table.iter().fold((0.0, 0), |(sum, count), of| {
            (sum + of.counted.sum, count + of.counted.count)
        })
    });
    sum / f64::from(count.max(1))
}

impl Measurements {
    fn add(&mut self, empty_calls: EmptyCalls, costs: Costs) {
        self.empty_calls = Some(empty_calls);
        self.visible.add(costs.visible);
        self.total.add(costs.total);
        self.nesting.add(costs.nesting);
        self.sampled[0].add(costs.sampled[0]);
        self.sampled[1].add(costs.sampled[1]);
        self.counted.add(costs.counted);
    }
}

/// What one measurement gives.
#[derive(Clone, Copy, Debug, Default)]
struct Costs {
    visible: f64,
    total: f64,
    nesting: f64,
    sampled: [f64; 2],
    counted: f64,
}

/// The figures of [`Costs`], in its order.
type Round = [f64; 6];

/// Medians over rounds in which all kinds of calls take turns. Leaves this thread's sums and table as they were.
///
/// A call on a thread that is not attached to the detector of interruptions is looked at more closely at both its ends, which costs a
/// quarter more. So are the first call of a thread, for which this is measured first, and a report that is made after its end.
fn measure(empty_calls: EmptyCalls) -> Costs {
    // The inlined reads would kill the process, and they do not measure there.
    if clock::is_os_clock() {
        return Costs::default();
    }
    thread::this()
        .detector
        .attached(|| measure_attached(empty_calls))
}

fn measure_attached(empty_calls: EmptyCalls) -> Costs {
    let segment = [const { Entry::new() }; FIRST_LEN];
    // SAFETY: the segment is dropped after the record.
    let record = unsafe { Record::new(0, 0, &raw const segment[0]) };
    segment[0].set_record(&raw const record);
    record.set_mode(Mode::EveryCall);
    let mut rounds: [Vec<f64>; 6] = [const { Vec::new() }; 6];
    let thread = thread::this();
    // An annotated allocator, or a pause by another thread, must not bring the thread's own table back meanwhile.
    let busy = thread.enter_cold_path();
    let began = clock::now();
    // A probe costs more where the call tree is recorded, and these calls must not be in it.
    let contexts = contexts::are_recorded().then(Contexts::new);
    for attempt in 0..MAX_ROUNDS {
        if attempt >= MIN_ROUNDS && clock::now() - began >= ENOUGH {
            break;
        }
        let mut measured = None;
        thread.with_segment(&segment, contexts.as_ref(), || {
            measured = round(empty_calls, &record)
        });
        for (costs, cost) in rounds.iter_mut().zip(measured.into_iter().flatten()) {
            costs.push(cost);
        }
    }
    drop(busy);
    let [visible, total, nesting, once, often, counted] =
        rounds.map(|costs| median(costs).unwrap_or(0.0).max(0.0));
    Costs {
        visible,
        total,
        nesting,
        sampled: [once, often],
        counted,
    }
}

/// `None` if no call was recorded.
fn round(empty_calls: EmptyCalls, record: &Record) -> Option<Round> {
    let (samples_before, sum_before) = record.samples();
    let start = clock::now();
    (empty_calls.annotated)(CALLS);
    let annotated = clock::now();
    (empty_calls.bare)(CALLS);
    let bare = clock::now();
    let (samples, sum) = record.samples();
    let nested_start = clock::now();
    (empty_calls.nested)(CALLS);
    let nested = clock::now();
    let per_call = |ticks: Ticks| ticks as f64 / f64::from(CALLS);
    if samples == samples_before {
        return None;
    }
    let visible = (sum - sum_before) as f64 / (samples - samples_before) as f64;
    let call = per_call(bare - annotated);
    let total = per_call(annotated - start) - call;
    let nesting = per_call(nested - nested_start) - 2.0 * (total + call);
    let sampled = |mode| {
        record.set_mode(mode);
        let start = clock::now();
        (empty_calls.annotated)(CALLS);
        per_call(clock::now() - start) - call
    };
    let once = sampled(Mode::OneIn(1));
    // Half of them are timed.
    let half = sampled(Mode::OneIn(2));
    record.entry().set_skip(2 * CALLS);
    let start = clock::now();
    (empty_calls.annotated)(CALLS);
    let counted = per_call(clock::now() - start);
    record.set_mode(Mode::EveryCall);
    let start = clock::now();
    (empty_calls.inlined)(CALLS);
    let inlined = per_call(clock::now() - start);
    let often = 2.0 * half - (counted - call);
    // A function that is short enough to be sampled would have been inlined.
    Some([visible, total, nesting, once, often, counted - inlined])
}
