//! The parts of `cargo tsc` that other tools share.

#![forbid(unsafe_code)]

pub mod annotate;
pub mod html;
pub mod statistics;
