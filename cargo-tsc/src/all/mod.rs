//! Measures every function of a project that does not use the runtime, in a copy of the project.

pub mod beside;
pub mod choice;
mod closures;
mod contexts;
mod copies;
mod copy;
pub mod crossing;
mod dependencies;
mod folder;
mod known;
mod manifest;
pub mod measured;
mod outside;
pub mod remarks;
mod remembered;
mod rustc;
mod unopened;
mod written;

pub use copies::{Copies, Place, last, place, refused};
pub use dependencies::{Wanted, is_workspace};
pub use manifest::{Runtime, as_root, with_paths};
pub use rustc::take_place;
