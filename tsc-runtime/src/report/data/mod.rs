//! The report as plain data: one definition for the runtime, which makes it, and for programs that read dumps. It exists whether
//! anything measures or not.

mod callsite;
mod clock;
mod context;
pub(super) mod getters;
pub(super) mod histogram;
mod machine;
mod process;
mod sums;
mod whole_ticks;

use getters::data;

pub use callsite::{CallsiteReport, EventCount, ThreadReport};
pub use clock::{Clock, FenceOverhead};
pub use context::Context;
pub use histogram::Bucket;
pub use machine::MachineReport;
pub use process::{Ended, MetaMap, Process};
pub use sums::{CallsiteSums, FirstCall, SumOfSquares};
pub(crate) use whole_ticks::WholeTicks;

/// The version of the report's shape. Later versions with the same number only add to it.
pub(crate) const SCHEMA: u32 = 2;

data! {
    /// All callsites' figures and what they rest on, taken at one moment, with every sum that is needed to add them to another
    /// process's.
    ///
    /// Its `Display` is the dump; in the alternate form (`{:#}`) with every correction, as `TSC_REPORT=full` prints it. With the
    /// feature `json` it is written by `to_json` and read back by `from_json`, without loss.
    pub struct Report {
        /// The version of the shape of this data: 2.
        schema: u32,
        /// The process that was measured. In a merged report, the process that started first.
        process: Process,
        /// How many processes' reports this holds: 1, or more after [`merge`](Self::merge).
        processes: u64,
        /// The entries of `TSC_META=key=value,…`. In a merged report, those on which all reports agree.
        meta: MetaMap,
        /// The machine on which the process ran. Two reports are comparable if their machines are equal.
        machine: MachineReport,
        /// The clock that counted the ticks, and its properties.
        clock: Clock,
        /// Every callsite that was called, the one with the most self ticks first.
        callsites: Vec<CallsiteReport>,
        /// The call tree, if it was recorded: parents before their children.
        contexts: Vec<Context>,
        /// The callsites that `TSC_ONLY` or `TSC_SKIP` left out, as `module::name`.
        left_out: Vec<String>,
        /// The reason why nothing could be measured, if there is one.
        nothing_because: Option<String>,
        /// Calls that were not recorded, because they happened in the middle of a recording: in an annotated allocator or in a signal
        /// handler.
        unrecorded_calls: u64,
    }
}

impl Report {
    /// The callsite named `name`, if it was called; the first of several.
    #[must_use]
    pub fn callsite(&self, name: &str) -> Option<&CallsiteReport> {
        self.callsites.iter().find(|callsite| callsite.name == name)
    }
}

impl Default for Report {
    /// A report of nothing.
    fn default() -> Self {
        Self {
            schema: SCHEMA,
            process: Process::default(),
            processes: 1,
            meta: MetaMap::new(),
            machine: MachineReport::default(),
            clock: Clock::default(),
            callsites: Vec::new(),
            contexts: Vec::new(),
            left_out: Vec::new(),
            nothing_because: None,
            unrecorded_calls: 0,
        }
    }
}
