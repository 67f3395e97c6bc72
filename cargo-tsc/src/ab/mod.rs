//! Measures two revisions in turns.

mod duet;
mod rounds;
mod submodules;
mod verb;
mod worktree;

pub use verb::ab;
