//! The call tree as data.

use super::getters::data;

data! {
    /// One node of the call tree: a callsite, called through a chain of others.
    #[derive(Default)]
    pub struct Context {
        /// Which callsite: an index into the report's `callsites`. `None` of all calls together for which their thread's call tree had
        /// no room left.
        callsite: Option<u64>,
        /// From which context it was called: an index into `contexts`, less than this one's own; `None` of a root.
        parent: Option<u64>,
        /// Calls that have returned.
        calls: u64,
        /// Of these, neither preempted, migrated nor signalled; `None` where that is not known.
        clean: Option<u64>,
        /// Inclusive net ticks.
        total_ticks: f64,
        /// Of these, on the CPU.
        on_cpu_ticks: Option<f64>,
        /// Net ticks outside annotated callees; on the CPU, where that is known.
        self_ticks: f64,
    }
}
