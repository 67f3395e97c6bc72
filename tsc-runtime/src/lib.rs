//! What a function costs, in TSC ticks.
pub mod tsc;
mod interruption;
mod slow_clock;
