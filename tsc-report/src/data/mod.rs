//! The report as plain data. The same definition serves the runtime, which makes reports, and programs that read dumps. It is compiled in
//! every build.

mod callsite;
mod clock;
mod context;
mod getters;
pub(crate) mod histogram;
#[cfg(has_callsites)]
pub(crate) mod json;
mod machine;
mod process;
#[cfg(has_callsites)]
pub(crate) mod rules;
mod slow_call;
mod sums;
mod tick_clock;
mod whole_ticks;

use getters::data;

pub use callsite::{CallsiteReport, EventCount, LIGHT, TIMED, ThreadReport};
pub use clock::{Clock, FenceOverhead};
pub use context::{Context, OTHER};
pub use histogram::Bucket;
pub(crate) use histogram::saturating_sum;
pub use machine::MachineReport;
pub use process::{Ended, MetaMap, Process};
pub use slow_call::{RecordedValue, SlowCall};
pub use sums::{CallsiteSums, FirstCall, SumOfSquares};
pub use tick_clock::TickClock;
pub use whole_ticks::WholeTicks;

/// The version of the report's structure. Later versions of this crate with the same number only add to it.
pub(crate) const SCHEMA: u32 = 4;

data! {
    /// The figures of all callsites and what they depend on, taken at one moment, with every sum that is needed to add them to another
    /// process's.
    ///
    /// Its `Display` is the dump; the alternate form (`{:#}`) has every correction, as with `TSC_REPORT=full`. With the feature `json`,
    /// `to_json` writes it and `from_json` reads it, without loss.
    pub struct Report {
        /// The version of the shape of this data: 4.
        schema: u32 or SCHEMA,
        /// The process that was measured. In a merged report, the process that started first.
        process: Process by Add => &Process,
        /// How many processes' reports this holds: 1, or more after [`merge`](Self::merge).
        processes: u64 by Latest or 1,
        /// The entries of `TSC_META=key=value,…`. In a merged report, those on which all reports agree.
        meta: MetaMap => &MetaMap,
        /// The machine on which the process ran. Two reports are comparable if their machines are equal.
        machine: MachineReport by Add => &MachineReport,
        /// The clock that counted the ticks, and its properties.
        clock: Clock => &Clock,
        /// The clock whose ticks tell where the time goes, if the program has light probes.
        tick_clock: Option<TickClock> by Joined => Option<&TickClock> = as_ref(),
        /// Every callsite that was called, the one with the most self ticks first.
        callsites: Vec<CallsiteReport> => &[CallsiteReport],
        /// How many of its slowest calls each function keeps: the value of `TSC_SLOWEST`. In a merged report, the least of those above 0.
        slowest_calls: u64,
        /// The call tree, if it was recorded or the program has light probes: parents before their children.
        contexts: Vec<Context> => &[Context],
        /// The callsites that `TSC_ONLY` or `TSC_SKIP` left out, as `module::name`.
        left_out: Vec<String> by Union => &[String],
        /// Where these are in the source, as `file:line`.
        left_out_at: Vec<String> by Union => &[String],
        /// The reason why nothing could be measured, if there is one.
        nothing_because: Option<String> => Option<&str> = as_deref(),
        /// Calls that were not recorded, because they happened in the middle of a recording, in an annotated allocator or in a signal
        /// handler, or because no memory was left.
        unrecorded_calls: u64 by Add,
    }
}

/// A part as a share of the whole; 0 of nothing.
pub(crate) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

impl Report {
    /// The callsite with the name `name`, if it was called. If there are several, the first one.
    ///
    /// ```
    /// # tsc_runtime::cycles_block!("parse", { std::hint::black_box(1) });
    /// let report = tsc_runtime::snapshot();
    /// let calls = report.callsite("parse").map_or(0, |row| row.calls());
    /// # assert_eq!(calls, 1);
    /// ```
    #[must_use]
    pub fn callsite(&self, name: &str) -> Option<&CallsiteReport> {
        self.callsites.iter().find(|callsite| callsite.name == name)
    }
}
