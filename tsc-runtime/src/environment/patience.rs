//! Waits for a limited time for something that another thread or process holds, because a report must never hang its program.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use crate::tsc::os_clock;

const LIMIT_NS: u64 = 2_000_000_000;
/// The limit while a signal ends the process. Whoever has sent it expects the end at once.
const LIMIT_AT_SIGNAL_NS: u64 = 250_000_000;
const PAUSE: Duration = Duration::from_millis(1);

static HURRIES: AtomicBool = AtomicBool::new(false);

/// Shortens all waits from now on, also those that have begun.
#[cfg_attr(not(unix), allow(dead_code, reason = "there are no signals there"))]
pub(crate) fn hurry() {
    HURRIES.store(true, Relaxed);
}

/// Whether a wait that began at this time of [`os_clock`] has lasted too long.
pub(super) fn is_over(began: u64) -> bool {
    let limit = match HURRIES.load(Relaxed) {
        true => LIMIT_AT_SIGNAL_NS,
        false => LIMIT_NS,
    };
    os_clock::now().saturating_sub(began) > limit
}

/// Calls `attempt` until it has a result. Returns `None` after two seconds.
pub(crate) fn retry<T>(mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
    // `Instant` reads the counter, which may be forbidden.
    let began = os_clock::now();
    loop {
        let result = attempt();
        if result.is_some() || is_over(began) {
            return result;
        }
        std::thread::sleep(PAUSE);
    }
}
