//! Two revisions, measured in turns.

mod verb;
mod worktree;

pub use verb::ab;
