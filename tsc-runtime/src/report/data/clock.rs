//! The clock of a report, as data.

use super::getters::data;

data! {
    /// The clock that the ticks were counted with.
    #[derive(Default)]
    pub struct Clock {
        /// Ticks per second; `None` if it could not be measured.
        hz: Option<f64>,
        /// The true rate is within this many millionths of `hz`, relative to CLOCK_MONOTONIC_RAW.
        ppm: Option<f64>,
        /// The step in which the counter advances, in ticks.
        resolution_ticks: u64,
        /// Whether the CPU says that the counter runs at one rate in all states.
        invariant: Option<bool>,
        /// What was read: `TSC`, or what stood in for it.
        source: String,
        /// Why that is not the TSC, if it is not.
        fallback_reason: Option<String>,
        /// The hypervisor the CPU names, if any.
        hypervisor: Option<String>,
        /// The CPU's own name.
        cpu: Option<String>,
        /// The kernel's current clocksource: `tsc` if it trusts the counter itself.
        clocksource: Option<String>,
        /// The one CPU that the reporting thread is pinned to.
        pinned_cpu: Option<usize>,
        /// Why interruptions are not detected, if they are not.
        no_interruptions_because: Option<String>,
        /// Why it is not known how long calls were on the CPU, if interruptions are detected and it is not.
        no_on_cpu_because: Option<String>,
        /// Core cycles per tick while the program ran: the median of a few samples.
        core_cycles_per_tick: Option<f64>,
        /// The least of those samples.
        core_cycles_per_tick_min: Option<f64>,
        /// The greatest.
        core_cycles_per_tick_max: Option<f64>,
        /// What the core's cycles were counted by: `reference chain`, `RDPRU` or `the PMU`.
        core_cycles_source: Option<String>,
        /// What each fence policy in use costs here.
        overheads: Vec<FenceOverhead>,
        /// What makes the figures bad, in sentences; empty if nothing is known to.
        warnings: Vec<String>,
        /// The doubtful findings of the self-test, in sentences that begin with what was looked at.
        doubtful: Vec<String>,
        /// How many findings of the self-test are doubtful.
        doubts: u64,
        /// Whether anything in there is so bad that ticks are no measure of time.
        distrusted: bool,
    }
}

data! {
    /// What a probe of one fence policy costs, measured in this process.
    #[derive(Default)]
    pub struct FenceOverhead {
        /// The policy, as the attribute takes it.
        fence: String,
        /// What lies between the two reads of an empty function, in ticks: every raw figure contains it.
        visible_ticks: f64,
        /// How far that may be off for a function in its surroundings: the systematic error of every net figure of one call.
        visible_error_ticks: f64,
        /// What a caller pays for the whole probe, in ticks.
        total_ticks: f64,
        /// How far that may be off in the same way.
        total_error_ticks: f64,
        /// What it pays more for a probe that has others nested in it.
        nesting_ticks: f64,
        /// What a caller pays for a call that is counted and not timed, over a call that was inlined; `None` where every call is timed.
        counted_ticks: Option<f64>,
        /// How far that may be off for a function in its surroundings.
        counted_error_ticks: Option<f64>,
    }
}

impl Clock {
    /// What of a fence policy's overhead is known.
    pub(crate) fn overhead(&self, fence: &str) -> Option<&FenceOverhead> {
        self.overheads.iter().find(|of| of.fence == fence)
    }

    /// What share of their calibrated cost probes may cost more or less than it: the greatest of all policies in use.
    pub(crate) fn total_error_share(&self) -> f64 {
        let share = |error: f64, ticks: f64| if ticks > 0.0 { error / ticks } else { 0.0 };
        let of = |of: &FenceOverhead| {
            let counted = of.counted_error_ticks.zip(of.counted_ticks);
            let counted = counted.map_or(0.0, |(error, ticks)| share(error, ticks));
            share(of.total_error_ticks, of.total_ticks).max(counted)
        };
        self.overheads.iter().map(of).fold(0.0, f64::max)
    }
}
