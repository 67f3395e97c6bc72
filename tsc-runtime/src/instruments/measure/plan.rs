//! What a run is asked for.

use std::time::Duration;

/// The options of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) precision: f64,
    pub(super) time_limit: Duration,
    pub(super) batch: Option<usize>,
    pub(super) isolated: bool,
    /// The step of the counter.
    pub(super) step: u64,
    /// Whether the baseline is an empty call between fences, which takes a cycle that work does not take: see `fence_hiding`.
    pub(super) baseline_is_empty: bool,
}
