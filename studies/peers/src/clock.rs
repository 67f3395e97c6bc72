//! Converts ticks to ns, for contestants that do not do this themselves.

use std::arch::x86_64::_rdtsc;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

static STARTED: OnceLock<(Instant, u64)> = OnceLock::new();

/// The counter, read without a fence.
#[inline(always)]
#[must_use]
pub fn ticks() -> u64 {
    // SAFETY: every x86-64 has RDTSC, and no scenario runs where it is forbidden.
    unsafe { _rdtsc() }
}

/// From here on the rate is told.
pub fn start() {
    STARTED.get_or_init(|| (Instant::now(), ticks()));
}

/// How long a tick is, by what has passed since [`start`], but by 20 ms at least.
#[must_use]
pub fn ns_per_tick() -> f64 {
    let &(began, first) = STARTED.get().expect("the clock was started");
    while began.elapsed() < Duration::from_millis(20) {
        std::hint::spin_loop();
    }
    let ns = began.elapsed().as_nanos() as f64;
    ns / ticks().wrapping_sub(first) as f64
}
