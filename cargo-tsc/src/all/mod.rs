//! Measures every function of a project that does not use the runtime, in a copy of the project.

mod beside;
mod choice;
mod closures;
mod contexts;
mod copy;
mod crossing;
mod dependencies;
mod folder;
mod known;
mod manifest;
mod outside;
mod remarks;
mod remembered;
mod rounds;
mod rustc;
mod tree;
mod unopened;
mod written;

pub use manifest::with_paths;
pub use rounds::run;
pub use rustc::take_place;
pub use tree::{Place, last, refused};
