//! What a function costs, in TSC ticks.
pub mod affinity;
pub mod tsc;
mod interruption;
mod slow_clock;
