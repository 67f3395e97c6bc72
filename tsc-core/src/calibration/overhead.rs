//! Measures what a probe costs, with the same code that the attribute inlines. This is done when the first callsite of a fence policy is
//! called, and again for every report, because the core clock varies and the fences take a fixed number of core cycles, not of ticks.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::light;
use super::measurements::{Costs, Series, medians, per_call};
use super::statistics::median;
use crate::process::PerProcess;
use crate::record::callsite::{EmptyCalls, Kind};
use crate::record::contexts::{self, Contexts};
use crate::record::table::{Entry, FIRST_LEN};
use crate::record::{BUFFER_LEN, Record, thread};
use crate::sync::Mutex;
use crate::tsc::{Fence, Ticks, clock, elapsed};
use tsc_report::FenceOverhead;

/// How much the visible overhead differs between places in a program, where the compiler chooses other registers and the code is aligned
/// differently. One program had 64 empty functions with eight signatures, each beside code of another length: their means were between 5.1
/// ticks below and 3.6 above the calibrated value (a Xeon with AMX, 2.6 GHz). At five places on Zen 4, the means were 59.4 to 65.5 ticks.
const SURROUNDINGS: f64 = 5.0;

/// The same for a probe that reads the operating system's clock, as a share of a reading. A reading is a system call, after which the core
/// executes the rest of the probe and the function slowly: empty functions took 31 to 35 ns more than a reading of 170 ns, and cost their
/// callers 90 ns more than three readings; a function of 428 ns took 83 to 103 ns more than a reading of 240 ns (EPYC, Zen 5).
const OS_CLOCK_SURROUNDINGS: f64 = 0.5;
const OS_CLOCK_TIMED_SURROUNDINGS: f64 = 0.75;

/// How much the cost of a timed call to its caller differs between places in a program, in ticks. In five programs of functions that take
/// a few ticks each, the cost was 10 to 41 ticks above the calibrated value: code and data compete for caches and predictors, and the
/// arguments and the result were kept in memory (a Xeon with AMX, 2.6 GHz). Beside 20 ticks of other work, the cost was 7 below, and beside
/// 80 ticks 20 below, because part of the recording runs in parallel with that work (EPYC, Zen 5, 2.6 GHz).
const TIMED_SURROUNDINGS: f64 = 45.0;

/// How much longer a function takes than if it alone were annotated, as a share of its time: because of the machine, and if its surroundings
/// consist of probes. `errors` of the studies prints what is seen. A program with a known call tree took up to 1.6 % longer than its work, with
/// what interruptions leave, which is stated by itself; in `hotspots`, with probes also on what it does with each word, a function that looks up
/// words took 13 to 43 % longer, and others 0 to 16 % (EPYC, Zen 5, 2.6 GHz, quiet and beside four busy threads); on Zen 3, 2 to 21 % and 0 to
/// 31 %, where probes took 62 % of the time. The share is less than the greatest, so that the errors of most rows are not much too large.
pub(crate) const MACHINE_SHARE: f64 = 0.01;
pub(crate) const CROWDING_SHARE: f64 = 0.4;

/// All measurements of the probes with one fence policy.
#[derive(Clone, Copy, Default)]
struct Known {
    /// `None` until such a probe is called.
    empty_calls: Option<EmptyCalls>,
    /// Whether the costs are those beside light probes.
    is_mixed: bool,
    costs: [Series; 3],
}

/// One element for each fence policy.
type KnownCosts = [Known; Fence::ALL.len()];

static MEASUREMENTS: PerProcess<Mutex<KnownCosts>> = PerProcess::new();

/// Whether the program has timed and light probes. Then a timed call costs more, and is measured so on all threads.
static MIXED: AtomicBool = AtomicBool::new(false);

/// Each policy's mean visible overhead, as the bits of an `f64`, for those who must not take a lock. 0.0 if the policy is not in use.
static VISIBLE: [AtomicU64; Fence::ALL.len()] = [const { AtomicU64::new(0) }; Fence::ALL.len()];

/// Forgets all measurements, in the child of a fork.
#[cfg(all(unix, not(miri)))] // no process is forked elsewhere
pub(crate) fn start_from_zero() {
    MEASUREMENTS.forget();
}

/// Calls `f` with the measurements. Meanwhile the thread counts as being in the cold path, so that a signal handler does not wait for the
/// lock that the thread it interrupts holds.
fn with<R>(f: impl FnOnce(&mut KnownCosts) -> R) -> R {
    let _busy = thread::this().enter_cold_path();
    f(&mut MEASUREMENTS.get().lock())
}

/// The number of calls in a round: enough to make the loop's ends negligible, and few enough for most rounds to pass undisturbed. It is
/// the length of the buffer, so that each round contains one fold of the buffer.
const CALLS: u32 = BUFFER_LEN as u32;
/// The readings of the operating system's clock that are taken to find out what one costs.
const OS_CLOCK_READINGS: usize = 301;
/// After this time, about a millisecond at common rates, rounds are made only until there are enough.
const ENOUGH: Ticks = 3_000_000;
/// The same at the first call, for which the program waits: some 40 rounds, whose median is as good, but for the core clock, which the
/// report's measurement sees at another time.
const FIRST_ENOUGH: Ticks = ENOUGH / 3;

/// Measures what the probes of this kind cost, unless it has been measured.
pub(crate) fn calibrate(kind: Kind) {
    match kind {
        Kind::Timed(fence, _) if is_known(fence) => {}
        Kind::Timed(fence, empty_calls) => measure_and_add(fence, empty_calls, FIRST_ENOUGH),
        Kind::Light(empty_calls) => light::calibrate(empty_calls),
    }
}

pub(crate) fn is_known(fence: Fence) -> bool {
    with(|table| table[fence as usize].empty_calls.is_some())
}

/// Called before a timed call in a program that has light probes. What timed calls have cost before does not count any more.
pub(crate) fn begin_to_mix() {
    if !MIXED.swap(true, Ordering::Relaxed) {
        measure_again(FIRST_ENOUGH);
    }
}

pub(crate) fn is_mixed() -> bool {
    MIXED.load(Ordering::Relaxed)
}

/// Measures all probes in use again. Not inlined: the guard of instructions leaves it out by its name.
#[inline(never)]
pub(crate) fn recalibrate() {
    measure_again(ENOUGH);
    light::measure_again();
}

/// Measures the timed probes in use again.
fn measure_again(enough: Ticks) {
    let measured = with(|table| *table);
    for (&fence, known) in Fence::ALL.iter().zip(measured) {
        if let Some(empty_calls) = known.empty_calls {
            measure_and_add(fence, empty_calls, enough);
        }
    }
}

fn measure_and_add(fence: Fence, empty_calls: EmptyCalls, enough: Ticks) {
    let is_mixed = is_mixed();
    let costs = measure(empty_calls, enough, is_mixed);
    let visible = with(|table| {
        let known = &mut table[fence as usize];
        known.empty_calls = Some(empty_calls);
        // A measurement may have begun before the program had light probes, and end after one of those beside them.
        if let Some(costs) = costs.filter(|_| is_mixed || !known.is_mixed) {
            if is_mixed && !known.is_mixed {
                (known.is_mixed, known.costs) = (true, <[Series; 3]>::default());
            }
            for (series, cost) in known.costs.iter_mut().zip(costs) {
                series.add(cost);
            }
        }
        known.costs[0].mean()
    });
    VISIBLE[fence as usize].store(visible.to_bits(), Ordering::Relaxed);
}

/// The visible overhead of [`of`], without taking a lock: `stop!` asks for it on each call.
pub(crate) fn visible(fence: Fence) -> f64 {
    f64::from_bits(VISIBLE[fence as usize].load(Ordering::Relaxed))
}

/// The visible overhead, the cost and the nesting cost of [`of`], which allocates.
pub(crate) fn means(fence: Fence) -> [f64; 3] {
    with(|table| table[fence as usize].costs).map(|series| series.mean())
}

/// The mean of all measurements of a policy. All 0 if the policy is not in use.
pub(crate) fn of(fence: Fence) -> FenceOverhead {
    let [visibles, totals, nestings] = with(|table| table[fence as usize].costs);
    let visible_ticks = visibles.mean();
    let surroundings = |ticks: f64, of_a_reading: f64| match clock::is_os_clock() {
        true => of_a_reading * visible_ticks,
        false => ticks,
    };
    FenceOverhead {
        fence: fence.name().to_owned(),
        visible_ticks,
        visible_error_ticks: surroundings(SURROUNDINGS, OS_CLOCK_SURROUNDINGS) + visibles.spread(),
        total_ticks: totals.mean(),
        total_error_ticks: surroundings(TIMED_SURROUNDINGS, OS_CLOCK_TIMED_SURROUNDINGS)
            + totals.spread(),
        nesting_ticks: nestings.mean(),
    }
}

/// Takes the medians over rounds, for about `enough` ticks; each round contains all kinds of calls. This thread's sums and table are left
/// unchanged. Returns `None` if the calls of no round were recorded, for instance because all of them were interrupted.
///
/// Meanwhile the thread is attached to the interruption detector. A thread is not attached before its first call, nor in a report that is
/// made after its end. There, each call would take the slow path at its start and its stop, which costs a quarter more.
fn measure(empty_calls: EmptyCalls, enough: Ticks, is_mixed: bool) -> Option<Costs> {
    // The operating system's clock replaces the TSC, whose inlined reads would kill the process.
    if clock::is_os_clock() {
        return os_clock_costs(clock::now);
    }
    let segment = [const { Entry::new() }; FIRST_LEN];
    // SAFETY: the segment is dropped after the record.
    let record = unsafe { Record::new(0, 0, &raw const segment[0]) };
    segment[0].set_record(&raw const record);
    let thread = thread::this();
    // A probe costs more if the call tree is recorded. These calls must not appear in the thread's own tree.
    let has_tree = contexts::are_recorded() && !is_mixed;
    let contexts = has_tree.then(Contexts::new).flatten();
    let recorded_round = || {
        let mut measured = None;
        thread.with_segment(&segment, contexts.as_ref(), is_mixed, || {
            measured = round(empty_calls, &record);
        });
        measured
    };
    let figures = thread.detector.attached(|| medians(enough, recorded_round));
    let [visible, total, annotated, nested] = figures?;
    // Each has a median of its own: of three timings, one is disturbed in most rounds on a busy machine.
    let nesting = (nested - 2.0 * annotated).max(0.0);
    Some([visible, total, nesting])
}

/// The costs of a probe that reads the operating system's clock with `now`. A call contains the end of one reading and the beginning of the
/// next, which together are a reading. The probe takes four: two for the call, and two for the time that the search for the record takes,
/// which contains one reading and is subtracted by itself.
fn os_clock_costs(now: impl Fn() -> Ticks) -> Option<Costs> {
    let readings: Vec<Ticks> = (0..=OS_CLOCK_READINGS).map(|_| now()).collect();
    let gap = |pair: &[Ticks]| elapsed(pair[0], pair[1]) as f64;
    let reading = median(readings.windows(2).map(gap).collect())?;
    Some([reading, 3.0 * reading, 0.0])
}

/// The visible overhead, the total one, and the ticks of an annotated call and of two nested ones. `None` if no annotated call was recorded.
fn round(empty_calls: EmptyCalls, record: &Record) -> Option<[f64; 4]> {
    let (samples_before, sum_before) = record.samples();
    let annotated = per_call(empty_calls.annotated, CALLS);
    let bare = per_call(empty_calls.bare, CALLS);
    let (samples, sum) = record.samples();
    let nested = per_call(empty_calls.nested, CALLS);
    if samples == samples_before {
        return None;
    }
    let visible = (sum - sum_before) as f64 / (samples - samples_before) as f64;
    Some([visible, annotated - bare, annotated, nested])
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn reading_of_the_systems_clock_is_the_usual_gap_between_two() {
        let (time, readings) = (Cell::new(0), Cell::new(0));
        let costs = os_clock_costs(|| {
            readings.set(readings.get() + 1);
            // Every tenth reading is interrupted.
            let interruption = if readings.get() % 10 == 0 { 5_000 } else { 0 };
            time.set(time.get() + 170 + interruption);
            time.get()
        });
        assert_eq!(costs, Some([170.0, 510.0, 0.0]));
    }
}
