//! Makes the report's data from the registry, the calibration and the facts about the machine.

mod callsite;
mod clock;
mod contexts;
mod process;
mod slowest;
mod tick_clock;
mod timestamp;

use std::collections::HashMap;

pub(super) use callsite::collect_callsites;
pub(super) use clock::collect_clock;
pub(super) use contexts::collect_contexts;
pub(crate) use process::begin;
#[cfg(all(unix, not(miri)))]
pub(crate) use process::start_from_zero;
pub(super) use process::{begin_anew, collect_process, host, process_started};
pub(super) use slowest::slowest_calls;
pub(super) use tick_clock::collect_tick_clock;
pub(super) use timestamp::compact;

/// The index of a callsite's report, by the callsite's number.
type Indices = HashMap<u32, u64>;
