//! Without the feature `pmu`, and on systems other than Linux, no events are counted. If `TSC_EVENTS` is set, a line gives the reason.

use crate::environment::EVENTS;
use crate::record::Record;
use crate::record::callsite::Callsite;
use tsc_report::EventCount;

/// Called when the process begins to measure.
pub(crate) fn begin() {
    if let Some(value) = EVENTS.get() {
        let why = if cfg!(target_os = "linux") {
            "needs the feature `pmu` of tsc-runtime"
        } else {
            "is for Linux only"
        };
        EVENTS.complain(&value.to_string_lossy(), why);
    }
}

/// None are.
pub(crate) const fn are_counted() -> bool {
    false
}

/// There is no such call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CountedCall {}

pub(crate) const fn start(_: &Record) -> Option<(CountedCall, u64)> {
    None
}

impl CountedCall {
    pub(crate) const fn stop(self, _: bool) -> Option<u64> {
        match self {}
    }
}

/// There are no counts.
pub(crate) fn counts(_: &Callsite, _: bool) -> Vec<EventCount> {
    Vec::new()
}

/// Does nothing, because there are no counts.
pub(crate) fn forget() {}

/// Does nothing in the child of a fork.
#[cfg(all(unix, not(miri)))]
pub(crate) fn start_from_zero() {}
