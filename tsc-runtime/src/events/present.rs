//! The functions for events that probes and reports call.

use std::cell::Cell;
use std::sync::atomic::{
    AtomicU8,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use std::time::{Duration, Instant};

use super::{Count, group, kinds, stack};
use crate::record::callsite::Callsite;
use crate::record::event_row::GENERATION;

/// Whether events are counted. The first call of the first callsite decides it.
static STATE: AtomicU8 = AtomicU8::new(UNDECIDED);
const UNDECIDED: u8 = 0;
const DECIDING: u8 = 1;
const OFF: u8 = 2;
const ON: u8 = 3;
/// How long a thread waits for another one to decide.
const PATIENCE: Duration = Duration::from_millis(100);

/// Decides which events are counted, and prints which ones cannot be. Other threads wait for the decision.
#[cold]
fn decide() {
    let undecided = STATE.compare_exchange(UNDECIDED, DECIDING, AcqRel, Relaxed);
    if undecided.is_ok() {
        DECIDES.set(true);
        let state = if kinds::choose().is_empty() { OFF } else { ON };
        STATE.store(state, Release);
        DECIDES.set(false);
    }
    // The wait has a limit, because in the child of a fork the deciding thread may not exist. The deciding thread itself does not wait: it
    // may call an annotated allocator, whose probe calls this function.
    let began = Instant::now();
    while STATE.load(Acquire) == DECIDING && !DECIDES.get() && began.elapsed() < PATIENCE {
        std::thread::yield_now();
    }
}

/// Called when the process begins to measure. Does nothing: which events are counted is decided at the first call of a callsite.
pub(crate) fn begin() {}

/// Called before a call's first read of the TSC.
#[inline]
pub(crate) fn before_start(callsite: &'static Callsite) {
    match STATE.load(Acquire) {
        OFF => {}
        ON => stack::push(callsite),
        _ => {
            decide();
            if STATE.load(Acquire) == ON {
                stack::push(callsite);
            }
        }
    }
}

/// Called after a call's last read of the TSC, before the call is recorded.
#[inline]
pub(crate) fn after_stop() {
    if STATE.load(Acquire) == ON {
        stack::pop();
    }
}

thread_local! {
    /// Whether this thread is deciding.
    static DECIDES: Cell<bool> = const { Cell::new(false) };
    /// Whether this thread is making a report that resets what it reports.
    static HANDS_OUT: Cell<bool> = const { Cell::new(false) };
}

/// The counts of the callsite's calls. Empty if no events are counted.
pub(crate) fn counts(callsite: &Callsite) -> Vec<Count> {
    let row = callsite.events().get();
    let Some((calls, counts)) = row.map(|row| row.counts(HANDS_OUT.get())) else {
        return Vec::new();
    };
    let of = |(kind, count): (&kinds::Kind, i64)| Count {
        event: kind.name,
        calls,
        count,
    };
    let counted = kinds::chosen().iter().zip(counts).map(of);
    counted.filter(|count| count.calls != 0).collect()
}

/// Runs `collect`. The [`counts`] that it reads are reset as they are read, so that each count is in exactly one report.
pub(crate) fn hand_out<T>(collect: impl FnOnce() -> T) -> T {
    HANDS_OUT.set(true);
    let collected = collect();
    HANDS_OUT.set(false);
    collected
}

/// Resets all counts.
pub(crate) fn forget() {
    GENERATION.fetch_add(1, Relaxed);
}

/// Resets everything in the child of a fork: the counts belong to the parent, and the counters to its threads.
pub(crate) fn start_from_zero() {
    forget();
    group::forget();
}
