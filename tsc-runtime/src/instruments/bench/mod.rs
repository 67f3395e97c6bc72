//! What the instruments share.

pub(super) mod distribution;
pub(super) mod progress;
pub(super) mod random;
