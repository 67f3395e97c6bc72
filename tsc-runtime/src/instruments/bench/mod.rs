//! What several instruments use.

pub(super) mod data;
pub(super) mod distribution;
#[cfg(test)]
pub(super) mod script;
