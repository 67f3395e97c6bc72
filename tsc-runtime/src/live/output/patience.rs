//! Waits for a limited time for something that another thread or process holds, because a report must never hang its program.

use std::time::Duration;

use crate::tsc::os_clock;

const LIMIT_NS: u64 = 2_000_000_000;
const PAUSE: Duration = Duration::from_millis(1);

/// Calls `attempt` until it has a result. Returns `None` after two seconds.
pub(super) fn retry<T>(mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
    // `Instant` reads the counter, which may be forbidden.
    let started = os_clock::now();
    loop {
        let result = attempt();
        if result.is_some() || os_clock::now().saturating_sub(started) > LIMIT_NS {
            return result;
        }
        std::thread::sleep(PAUSE);
    }
}
