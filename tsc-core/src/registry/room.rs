//! How much memory the registry's work takes at most. It is only begun if so much is left: see [`memory`].

use super::{NUMBERS, REGISTRY};
use crate::process::memory;
use crate::record::totals::Totals;
use crate::sync::atomic::Ordering::Relaxed;

/// What the process needs to begin, for the stacks of the runtime's threads.
const STACKS: usize = 1 << 23;
/// What any work takes, without what follows.
const ANY: usize = 1 << 16;
/// The figures of a row, while they are read.
const ROW: usize = 1 << 14;
/// A report, without its rows.
const REPORT: usize = 1 << 20;

fn callsites() -> usize {
    NUMBERS.load(Relaxed) as usize
}

/// For the first call of a thread or of a kind of probe.
pub(super) fn is_left_for_call() -> bool {
    memory::is_left(ANY) && (REGISTRY.get_if_made().is_some() || memory::can_map(STACKS))
}

/// For adding the figures of so many records to those of ended threads.
pub(super) fn is_left_for_end(records: usize) -> bool {
    memory::is_left(ANY + ROW * records + size_of::<Totals>() * callsites())
}

/// For a report.
pub(crate) fn is_left_for_report() -> bool {
    memory::is_left(REPORT + ROW * callsites())
}
