//! Makes the report's data from the registry, the calibration and the facts about the machine.

pub(super) mod callsite;
pub(super) mod clock;
pub(super) mod contexts;
pub(super) mod process;
pub(super) mod slowest;
pub(super) mod tick_clock;
pub(super) mod timestamp;

use std::collections::HashMap;

/// The index of a callsite's report, by the callsite's number.
type Indices = HashMap<u32, u64>;
