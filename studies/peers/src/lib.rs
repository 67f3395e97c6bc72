//! What all contestants use: the functions to annotate, the floor, and the scenarios.
//!
//! A contestant is one file in `bin`: it defines how it is added to a function, how it is started, and what it reports. The command in
//! `main.rs` starts each in a process of its own, so that the threads, memory and hooks of one profiler do not disturb another.

mod annotate;
mod child;
pub mod clock;
mod contestant;
pub mod pair;
mod process;
pub mod work;

pub use child::run;
pub use contestant::{Contestant, Functions, Reading, Readings};
