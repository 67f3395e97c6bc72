//! Without the feature `pmu`, and on other systems than Linux, nothing is counted. If `TSC_EVENTS` is set, a line says why.

use super::Count;
use crate::environment::EVENTS;
use crate::record::callsite::Callsite;

/// The process begins to measure.
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

/// Nothing was counted.
pub(crate) fn counts(_: &Callsite) -> Vec<Count> {
    Vec::new()
}

/// Nothing to hand out.
pub(crate) fn hand_out<T>(collect: impl FnOnce() -> T) -> T {
    collect()
}

/// Nothing to forget.
pub(crate) fn forget() {}
