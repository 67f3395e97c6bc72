//! Measures two revisions in turns.

mod submodules;
mod verb;
mod worktree;

pub use verb::ab;
