//! What several instruments use.

pub(super) mod distribution;
pub(super) mod progress;
pub(super) mod random;
#[cfg(test)]
pub(super) mod scripted;
