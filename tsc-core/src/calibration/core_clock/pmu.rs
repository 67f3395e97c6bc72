//! The performance monitoring unit (PMU): the cycles of this thread in user mode, read by `perf_event_open`.

use perf_event::Builder;
use perf_event::events::{Event, Hardware};

/// A reader of this thread's cycles, if there is a PMU and if `perf_event_paranoid` and the sandbox permit its use.
pub(super) fn counter() -> Option<impl FnMut() -> Option<u64>> {
    reader(Hardware::CPU_CYCLES)
}

fn reader(event: impl Event) -> Option<impl FnMut() -> Option<u64>> {
    let mut counter = Builder::new(event).build().ok()?;
    counter.enable().ok()?;
    Some(move || counter.read().ok())
}

#[cfg(test)]
mod tests {
    use perf_event::events::Software;

    use super::*;
    use crate::calibration;
    use crate::calibration::core_clock::counted;
    use crate::calibration::reference_chain;

    /// The kernel's count of nanoseconds stands in for the PMU, because few machines have one.
    #[test]
    fn what_the_kernel_counts_is_read_around_the_chains() {
        let Some(nanoseconds) = reader(Software::TASK_CLOCK).filter(|_| reference_chain::AVAILABLE)
        else {
            eprintln!("SKIPPED: perf_event_open is refused, or there is no chain");
            return;
        };
        let Ok(rate) = calibration::rate() else {
            return;
        };
        let per_tick =
            counted(nanoseconds, reference_chain::additions).expect("the task's clock ticks");
        assert!(
            (0.5..2.0).contains(&(per_tick / rate.ns(1.0))),
            "{per_tick} {rate}"
        );
    }
}
