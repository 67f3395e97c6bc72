//! The clock of a report, as data.

use super::getters::data;

data! {
    /// The clock that the ticks were counted with.
    pub struct Clock {
        /// Ticks per second; `None` if it could not be measured.
        hz: Option<f64> by Known,
        /// The error bound of `hz` in parts per million, relative to the system's clock: CLOCK_MONOTONIC_RAW on Linux.
        ppm: Option<f64> by Worst,
        /// The step in which the counter advances, in ticks.
        resolution_ticks: u64 by Worst,
        /// Whether the CPU states that the counter's rate is constant in all states.
        invariant: Option<bool>,
        /// The clock that was read: `TSC`, or its replacement.
        source: String => &str,
        /// The reason why `source` is not the TSC, if it is not.
        fallback_reason: Option<String> => Option<&str> = as_deref(),
        /// The hypervisor that the CPU names, if any.
        hypervisor: Option<String> => Option<&str> = as_deref(),
        /// The CPU's brand string.
        cpu: Option<String> => Option<&str> = as_deref(),
        /// The kernel's current clocksource: `tsc` if the kernel trusts the counter.
        clocksource: Option<String> => Option<&str> = as_deref(),
        /// The CPU to which the reporting thread is pinned, if it is pinned to a single one.
        pinned_cpu: Option<usize> by Alike,
        /// The reason why interruptions are not detected, if they are not.
        no_interruptions_because: Option<String> by Known => Option<&str> = as_deref(),
        /// The reason why the time on the CPU of interrupted calls is unknown, if interruptions are detected and it is unknown.
        no_on_cpu_because: Option<String> by Known => Option<&str> = as_deref(),
        /// Core cycles per tick while the program ran: the median of a few samples.
        core_cycles_per_tick: Option<f64>,
        /// The smallest of those samples.
        core_cycles_per_tick_min: Option<f64> by Least,
        /// The largest of those samples.
        core_cycles_per_tick_max: Option<f64> by Greatest,
        /// How core cycles were counted: by `reference chain`, `RDPRU` or `the PMU`.
        core_cycles_source: Option<String> => Option<&str> = as_deref(),
        /// The overhead of each fence policy in use.
        overheads: Vec<FenceOverhead> => &[FenceOverhead],
        /// The share of its own time by which a function may take longer than if it alone were annotated: because of what the machine does
        /// besides, and because of the probes around it, which compete with it for caches and predictors. It grows with the probes' share of
        /// the program's ticks.
        crowding_error_share: f64 by Worst,
        /// What makes the figures unusable, in sentences; usually empty.
        warnings: Vec<String> by Union => &[String],
        /// The doubtful findings of the self-test, in sentences that begin with the finding's name.
        doubtful: Vec<String> by Union => &[String],
        /// The number of doubtful findings.
        doubts: u64,
        /// Whether a finding is so bad that ticks do not measure time.
        distrusted: bool by Worst,
    }
}

data! {
    /// What a probe of one fence policy costs, measured in this process.
    pub struct FenceOverhead {
        /// The policy, as the attribute takes it.
        fence: String => &str,
        /// The ticks between the two reads around an empty function. Every raw figure contains them.
        visible_ticks: f64,
        /// The error of `visible_ticks`, which depends on the code around a probe. It is the systematic error of every net figure of a
        /// single call.
        visible_error_ticks: f64 by Worst,
        /// The ticks that a whole probe costs its caller.
        total_ticks: f64,
        /// The error of `total_ticks`.
        total_error_ticks: f64 by Worst,
        /// The additional ticks that a probe with nested probes costs its caller.
        nesting_ticks: f64,
    }
}

impl Clock {
    /// The overhead of a fence policy, if it is known.
    pub(crate) fn overhead(&self, fence: &str) -> Option<&FenceOverhead> {
        self.overheads.iter().find(|of| of.fence == fence)
    }

    /// The greatest error of a probe's cost over all policies in use, as a share of that cost.
    pub(crate) fn total_error_share(&self) -> f64 {
        let known = self.overheads.iter().filter(|of| of.total_ticks > 0.0);
        let shares = known.map(|of| of.total_error_ticks / of.total_ticks);
        shares.fold(0.0, f64::max)
    }
}
