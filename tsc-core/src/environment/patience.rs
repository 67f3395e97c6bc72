//! Waits for a limited time for something that another thread or process holds, because a report must never hang its program.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use crate::tsc::os_clock;

const LIMIT: Duration = Duration::from_secs(2);
/// The limit while a signal ends the process. Whoever has sent it expects the end at once.
const LIMIT_AT_SIGNAL: Duration = Duration::from_millis(250);
const PAUSE: Duration = Duration::from_millis(1);

/// Once this is set, all waits are shorter, also those that have begun.
pub(crate) static HURRIES: AtomicBool = AtomicBool::new(false);

/// A wait that is made of pauses.
pub(super) struct Wait {
    /// When it was first asked whether the wait is over. What need not wait does not ask for the time, which a sandbox may forbid.
    began: Option<u64>,
    /// How long the pauses were.
    paused: Duration,
}

impl Wait {
    pub(super) fn begin() -> Self {
        Self {
            began: None,
            paused: Duration::ZERO,
        }
    }

    /// Called at each pause: whether the wait has lasted too long. The pauses decide where a sandbox refuses to tell the time.
    pub(super) fn is_over(&mut self, pause: Duration) -> bool {
        let limit = match HURRIES.load(Relaxed) {
            true => LIMIT_AT_SIGNAL,
            false => LIMIT,
        };
        self.paused += pause;
        // `Instant` reads the counter, which may be forbidden.
        let now = os_clock::now();
        let waited = match now.saturating_sub(*self.began.get_or_insert(now)) {
            0 => self.paused,
            ns => Duration::from_nanos(ns),
        };
        waited > limit
    }
}

/// Calls `attempt` until it has a result. Returns `None` after two seconds.
pub(crate) fn retry<T>(mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
    let mut wait = Wait::begin();
    loop {
        let result = attempt();
        if result.is_some() || wait.is_over(PAUSE) {
            return result;
        }
        std::thread::sleep(PAUSE);
    }
}
