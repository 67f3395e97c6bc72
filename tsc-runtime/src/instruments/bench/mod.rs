//! What several instruments use.

pub(super) mod distribution;
#[cfg(test)]
pub(super) mod script;
