//! The same without `std`. Functions that need `std` are left out.

/// Prints nothing.
pub fn report() {}

/// Does nothing.
pub fn reset() {}

/// Does nothing.
pub fn pause() {}

/// Does nothing.
pub fn resume() {}

/// Does nothing. Returns false if the tree should be recorded, because it is not.
pub fn tree(recorded: bool) -> bool {
    !recorded
}
