//! Measures again, while the program runs, what it costs to count a call that is not timed.
//!
//! This cost is multiplied by millions of calls, and it changes with the core clock and with what else the core executes: in a virtual
//! machine whose core is shared, it was 8 ticks in most processes and 11 to 15 in others, according to the 2 ms in which it was measured
//! first. So it is measured about every millisecond, and each measurement is used until the next one.

use super::overhead::{CALLS, add_counted, per_call};
use super::statistics::median_of_sorted;
use crate::record::callsite::{Callsite, EmptyCalls};
use crate::record::table::{Entry, FIRST_LEN};
use crate::record::thread::Thread;
use crate::tsc::clock;

/// A measurement takes some 10 microseconds.
const ROUNDS: usize = if cfg!(miri) { 1 } else { 15 };

/// The ticks that a call costs its caller if it is counted but not timed, as it is now. For the cold path, where no call tree is recorded.
///
/// Neither allocates nor waits, because the call that it precedes may be one of an allocator or of a signal handler.
pub(crate) fn measure(callsite: &Callsite, thread: &Thread) -> f64 {
    let empty_calls = callsite.empty_calls();
    let segment = [const { Entry::new() }; FIRST_LEN];
    let mut rounds = [0.0; ROUNDS];
    thread.with_segment(&segment, None, || {
        for cost in &mut rounds {
            let [counted, inlined] = round(empty_calls, &segment[0]);
            *cost = counted - inlined;
        }
    });
    rounds.sort_unstable_by(f64::total_cmp);
    let cost = median_of_sorted(&rounds).unwrap_or(0.0).max(0.0);
    add_counted(callsite.fence(), cost);
    cost
}

/// The ticks of a call that is only counted, and of an inlined call without a probe: a function short enough to be sampled would be inlined
/// without the attribute. `entry` is the one that the calls find. It needs no record.
pub(super) fn round(empty_calls: EmptyCalls, entry: &Entry) -> [f64; 2] {
    // None of the calls is the next to be timed in its turn.
    entry.set_skip(2 * CALLS);
    [empty_calls.annotated, empty_calls.inlined].map(|calls| {
        let start = clock::now();
        calls(CALLS);
        per_call(clock::now() - start)
    })
}
