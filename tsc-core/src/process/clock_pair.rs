//! The counter and a clock that nothing adjusts, read at the same moment.

use crate::tsc::{FencePolicy, Lfence, Ticks, elapsed};

/// Two reads of the counter with a read of the reference clock between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockPair {
    /// The counter before the reference clock was read.
    pub(crate) before: Ticks,
    /// The reference clock, in nanoseconds; 0 if the system refuses it.
    pub(crate) ns: u64,
    /// The counter after the reference clock was read.
    pub(crate) after: Ticks,
}

impl ClockPair {
    /// Whether the reference clock is Linux' raw clock.
    pub(crate) const IS_RAW: bool = cfg!(all(
        any(target_os = "linux", target_os = "android"),
        not(miri)
    ));

    #[inline(always)]
    pub(crate) fn read() -> Self {
        let before = Lfence::start();
        let ns = reference_ns();
        let after = Lfence::stop();
        Self { before, ns, after }
    }

    /// The ticks between the two reads of the counter; negative if it went backwards.
    pub(crate) fn width(&self) -> i64 {
        elapsed(self.before, self.after)
    }
}

/// The reading goes through the vDSO and takes tens of nanoseconds. Callers have made sure that user code may read the counter, because the
/// vDSO reads it, too.
#[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
#[inline(always)]
fn reference_ns() -> u64 {
    super::cpu_time::clock_ns(libc::CLOCK_MONOTONIC_RAW).unwrap_or(0)
}
#[cfg(not(all(any(target_os = "linux", target_os = "android"), not(miri))))]
use crate::tsc::os_clock::now as reference_ns;
