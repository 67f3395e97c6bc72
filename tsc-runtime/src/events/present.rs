//! What a probe and a report ask of the events.

use std::cell::Cell;
use std::sync::atomic::{
    AtomicU8,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use std::time::{Duration, Instant};

use super::{Count, group, kinds, stack};
use crate::record::callsite::Callsite;
use crate::record::event_row::GENERATION;

/// Whether events are counted: decided by the first callsite's first call.
static STATE: AtomicU8 = AtomicU8::new(UNDECIDED);
const UNDECIDED: u8 = 0;
const DECIDING: u8 = 1;
const OFF: u8 = 2;
const ON: u8 = 3;
/// How long a thread waits for another one to decide.
const PATIENCE: Duration = Duration::from_millis(100);

/// Decides which events are counted, and says which cannot be. Threads that come meanwhile wait for that.
#[cold]
fn decide() {
    let undecided = STATE.compare_exchange(UNDECIDED, DECIDING, AcqRel, Relaxed);
    if undecided.is_ok() {
        DECIDES.set(true);
        let state = if kinds::choose().is_empty() { OFF } else { ON };
        STATE.store(state, Release);
        DECIDES.set(false);
    }
    // Not for good: in the child of a fork, the thread that was about to decide is missing; and not in an annotated allocator that this
    // thread's own deciding calls.
    let began = Instant::now();
    while STATE.load(Acquire) == DECIDING && !DECIDES.get() && began.elapsed() < PATIENCE {
        std::thread::yield_now();
    }
}

/// The process begins to measure; which events are counted is decided by its first call, not here.
pub(crate) fn begin() {}

/// Before a call's first read of the counter.
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

/// After a call's last read of the counter, and before the call is recorded.
#[inline]
pub(crate) fn after_stop() {
    if STATE.load(Acquire) == ON {
        stack::pop();
    }
}

thread_local! {
    /// Whether this thread is the one that decides.
    static DECIDES: Cell<bool> = const { Cell::new(false) };
    /// Whether this thread makes a report that forgets what it reports.
    static HANDS_OUT: Cell<bool> = const { Cell::new(false) };
}

/// What was counted in the callsite's calls; empty if nothing was asked for.
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

/// Runs `collect`, whose [`counts`] are forgotten with being read: each is in exactly one report.
pub(crate) fn hand_out<T>(collect: impl FnOnce() -> T) -> T {
    HANDS_OUT.set(true);
    let collected = collect();
    HANDS_OUT.set(false);
    collected
}

/// Forgets all counts.
pub(crate) fn forget() {
    GENERATION.fetch_add(1, Relaxed);
}

/// In the child of a fork: the counts are the parent's, and so are the descriptors' threads.
pub(crate) fn start_from_zero() {
    forget();
    group::forget();
}
