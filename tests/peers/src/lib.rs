//! What every contestant shares: the functions it annotates, the fence floor it is measured beside, and the scenarios.
//!
//! A contestant is one file in `bin`: it says how it is put on a function, how it is started and what it reports. Each runs in a
//! process of its own, started by the command in `main.rs`, so that no profiler's threads, memory or hooks disturb another's.

mod annotate;
mod child;
pub mod clock;
mod contestant;
pub mod pair;
mod process;
pub mod work;

pub use child::run;
pub use contestant::{Contestant, Functions, Reading, Readings};
