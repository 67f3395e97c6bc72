//! The public functions where nothing measures and there is no `std`: those that have no use for it.

#![cfg(all(not(feature = "on"), target_os = "none"))]

/// Prints nothing.
pub fn report() {}

/// Does nothing.
pub fn reset() {}

/// Does nothing.
pub fn pause() {}

/// Does nothing.
pub fn resume() {}

/// Does nothing, and returns false if a tree is asked for.
pub fn tree(recorded: bool) -> bool {
    !recorded
}
