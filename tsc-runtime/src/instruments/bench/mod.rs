//! What several instruments use.

pub(super) mod data;
pub(super) mod distribution;
pub(super) mod random;
#[cfg(test)]
pub(super) mod script;
