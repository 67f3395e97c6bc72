//! Measuring every function of a project that has never heard of this: in a copy.

mod beside;
mod copy;
mod manifest;
mod prune;
mod remarks;
mod rustc;
mod tree;
mod verb;

pub use rustc::{become_rustc, is_rustc};
pub use tree::Place;
pub use verb::run;
