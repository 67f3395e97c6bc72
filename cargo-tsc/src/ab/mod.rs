//! Measures two revisions in turns.

mod verb;
mod worktree;

pub use verb::ab;
