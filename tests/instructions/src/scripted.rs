//! Calls whose ticks are the same in every run.
//!
//! Valgrind executes RDTSC itself, so the ticks of a call under it are arbitrary. But the number of instructions for adding them to a
//! histogram, and for printing it, depends on their distribution.

use std::cell::Cell;
use std::sync::OnceLock;

use tsc_runtime::__private::{Callsite, Probe, Slot, Unfenced, meta};
use tsc_runtime::tsc::{Fence, FencePolicy, Ticks};

/// Ticks between the two steps of a counter that advances by as much, as many x86 CPUs' does.
const STEP: u64 = 26;

thread_local! {
    static START: Cell<Ticks> = const { Cell::new(0) };
    static STATE: Cell<u64> = const { Cell::new(0x9E37_79B9_7F4A_7C15) };
}

/// The counter as it is, but the stop comes a scripted number of ticks after the start.
struct Scripted;

impl FencePolicy for Scripted {
    const FENCE: Fence = Fence::Lfence;

    fn start() -> Ticks {
        let start = Unfenced::start();
        START.set(start);
        start
    }

    fn stop() -> Ticks {
        START.get().wrapping_add(next())
    }
}

/// Most calls take four to six steps, and one in 64 up to 64 times as long.
fn next() -> Ticks {
    let mut state = STATE.get();
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    STATE.set(state);
    let usual = STEP * (4 + state % 3);
    if (state >> 32).is_multiple_of(64) {
        usual * (1 + (state >> 40) % 64)
    } else {
        usual
    }
}

/// A new callsite.
pub(crate) fn callsite(name: String) -> &'static Callsite {
    Box::leak(Box::new(Callsite::new::<Scripted>(
        meta(&(), module_path!(), line!()).named(name.leak()),
    )))
}

/// Calls a function that does nothing.
#[inline(never)]
pub(crate) fn call(callsite: &'static Callsite) {
    let mut slot = Slot::new();
    let _probe = Probe::<Scripted>::start(callsite, &mut slot);
}

/// Always of the same callsite.
#[inline(never)]
pub(crate) fn call_one(value: u64) -> u64 {
    static CALLSITE: OnceLock<&Callsite> = OnceLock::new();
    call(CALLSITE.get_or_init(|| callsite("scripted".to_owned())));
    value
}
