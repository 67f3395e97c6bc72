//! Where calls of what is unusual keep no registers, they are usual calls.

pub(super) use super::cold::{start, stop};
