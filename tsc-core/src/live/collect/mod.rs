//! Makes the report's data from the registry, the calibration and the facts about the machine.

pub(super) mod callsite;
pub(super) mod clock;
pub(super) mod contexts;
pub(super) mod process;
mod slowest;
pub(super) mod tick_clock;
pub(super) mod timestamp;
