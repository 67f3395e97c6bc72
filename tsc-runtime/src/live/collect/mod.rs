//! Makes the report's data from the registry, the calibration and the facts about the machine.

pub(super) mod callsite;
pub(super) mod clock;
pub(super) mod contexts;
pub(super) mod process;
mod slowest;
pub(super) mod tick_clock;
pub(super) mod timestamp;

use std::collections::BTreeMap;

/// Where callsites are in the report, by their numbers.
pub(super) type Indices = BTreeMap<u32, u64>;
