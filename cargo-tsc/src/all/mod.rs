//! Measures every function of a project that does not use the runtime, in a copy of the project.

mod beside;
mod choice;
mod copy;
mod dependencies;
mod folder;
mod known;
mod manifest;
mod outside;
mod remarks;
mod rustc;
mod tree;
mod unopened;
mod verb;

pub use rustc::{become_rustc, is_rustc};
pub use tree::Place;
pub use verb::run;
