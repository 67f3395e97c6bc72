//! The report as plain data, which exists whether anything measures or not.

use super::figures::figures;

/// The version of the report's shape. Later versions with the same number only add to it.
const SCHEMA: u32 = 1;

/// A call shorter than this cannot be told from none: what the surroundings of a probe change in its visible overhead.
const RESOLVED_TICKS: f64 = 30.0;

figures! {
    /// All callsites' figures and what they rest on, taken at one moment. Its `Display` is the dump; in the alternate form (`{:#}`) with every
    /// correction, as `TSC_REPORT=full` prints it.
    #[derive(Clone, Debug)]
    #[non_exhaustive]
    #[cfg_attr(feature = "json", derive(serde::Serialize))]
    pub struct Report {
        /// The version of the shape of this data: 1.
        schema: u32,
        /// The clock the ticks were counted with, and what is known of it.
        clock: Clock,
        /// Every callsite that was called, the one with the most self ticks first.
        callsites: Vec<CallsiteReport>,
        /// Calls that were not recorded, because they came from inside the recording itself (an annotated allocator, a signal).
        unrecorded_calls: u64,
    }
}

impl Report {
    pub(crate) fn new(clock: Clock, callsites: Vec<CallsiteReport>, unrecorded_calls: u64) -> Self {
        Self {
            schema: SCHEMA,
            clock,
            callsites,
            unrecorded_calls,
        }
    }

    /// The callsite named `name`, if it was called; the first of several.
    #[must_use]
    pub fn callsite(&self, name: &str) -> Option<&CallsiteReport> {
        self.callsites.iter().find(|callsite| callsite.name == name)
    }
}

figures! {
    /// What one annotated function took, over all threads. All ticks are net (the probes' own cost taken out) unless they say raw
    /// or overhead; `None` is what is not known.
    #[derive(Clone, Debug)]
    #[non_exhaustive]
    #[cfg_attr(feature = "json", derive(serde::Serialize))]
    pub struct CallsiteReport {
        /// The attribute's `name = "…"`, or the function's path in its module.
        name: String,
        /// `module_path!()` of the function.
        module: &'static str,
        /// The source file.
        file: &'static str,
        /// The line of the function's name.
        line: u32,
        /// The fence policy, as the attribute takes it.
        fence: &'static str,
        /// Whether the CPU has that policy's instructions; if not, `lfence`'s were executed.
        fence_supported: bool,
        /// Calls that have returned.
        calls: u64,
        /// Calls that have started and not returned: in no other figure.
        running: u64,
        /// Calls that were not preempted, migrated or signalled; `None` where that cannot be told.
        clean: Option<u64>,
        /// Calls that were. They are in `calls` and the totals, and in no mean, minimum, maximum, deviation or quantile. A thread's
        /// first call counts here too, though it is apart from the other interrupted ones' mean and histogram.
        interrupted: Option<u64>,
        /// Calls of which it is not known, because the platform cannot tell, another library was in the way or their thread was
        /// ending. They count as samples.
        unknown: u64,
        /// Calls without a measurement, because the counter was reset or went backwards, or because a section was never stopped: in
        /// `calls` and in no ticks.
        anomalies: u64,
        /// Calls of over 30 hours at 2.6 GHz, or a counter that jumped: samples longer than the histogram has buckets for. They are
        /// in all sums and in `max_ticks`; quantiles end there.
        saturated: u64,
        /// The calls that mean, deviation, minimum, maximum and quantiles are over: all but each thread's first and the interrupted.
        samples: u64,
        /// Inclusive ticks: with all callees; of a recursion, the outermost call's.
        total_ticks: f64,
        /// Ticks outside annotated callees.
        self_ticks: f64,
        /// Inclusive ticks before any correction.
        raw_ticks: f64,
        /// The correction: `raw_ticks - total_ticks`. It is `visible_overhead_ticks + nested_overhead_ticks +
        /// registration_overhead_ticks`, where that is not more than there was.
        overhead_ticks: f64,
        /// Of the overhead: the function's own probes, `calls` (of a recursion, outermost calls) times what one sees of itself.
        visible_overhead_ticks: f64,
        /// Of the overhead: probes nested in the calls, at their calibrated cost.
        nested_overhead_ticks: f64,
        /// Of the overhead: what was not a probe's. Other callsites' registrations on the thread, at their first calls inside these,
        /// and reports made inside; measured each time.
        registration_overhead_ticks: f64,
        /// Mean of the samples.
        mean_ticks: Option<f64>,
        /// Standard error of the mean.
        std_error_ticks: Option<f64>,
        /// How far the mean may be off beyond that, up or down: what the function's own probe and those nested in its calls may
        /// cost more or less than they did when they were calibrated. Down, `stolen_mean_ticks` comes to it: the true mean is
        /// within `mean_ticks` + 3 `std_error_ticks` + this, and `mean_ticks` - 3 `std_error_ticks` - this - `stolen_mean_ticks`.
        systematic_error_ticks: Option<f64>,
        /// Standard deviation of the samples.
        stddev_ticks: Option<f64>,
        /// The least sample.
        min_ticks: Option<f64>,
        /// Median; like all quantiles, to 1/64 of the gross ticks (the visible overhead inside).
        p50_ticks: Option<f64>,
        /// 90 % of the samples are not longer.
        p90_ticks: Option<f64>,
        /// 99 % of the samples are not longer.
        p99_ticks: Option<f64>,
        /// 99.9 % of the samples are not longer.
        p999_ticks: Option<f64>,
        /// The greatest sample.
        max_ticks: Option<f64>,
        /// The first call of the process, which finds everything cold; interrupted or not.
        first_ticks: Option<f64>,
        /// The mean of all calls before any correction.
        mean_raw_ticks: Option<f64>,
        /// The least sample before any correction; not known of a function whose calls had other probes in them.
        min_raw_ticks: Option<f64>,
        /// Samples from here on are gaps: timer interrupts and time that a hypervisor gives to others leave no other trace. It
        /// lies above the 99th percentile (of calls over 10 µs, a lower one, down to the 90th at 100 µs: that share may be hit
        /// by interrupts that come a thousand times a second) by four times that percentile's distance from the median, and by
        /// 400 ns. A rare slow path of the function looks the same, so gaps stay in all figures.
        gap_threshold_ticks: Option<f64>,
        /// How many there are.
        gaps: u64,
        /// What they make of the mean: without them, it would be less by so much. What they took beyond the mean of the others,
        /// spread over all samples.
        stolen_mean_ticks: Option<f64>,
        /// The same as a share of `total_ticks`: about what was stolen.
        stolen_share: Option<f64>,
        /// The interrupted calls, by their length: buckets that each reach to the double of their beginning.
        interrupted_histogram: Vec<Bucket>,
        /// Mean of the interrupted calls.
        interrupted_mean_ticks: Option<f64>,
        /// Median of the interrupted calls, to a factor of 1.5.
        interrupted_p50_ticks: Option<f64>,
        /// Threads that called it.
        threads: u64,
        /// The probes' share of the raw ticks, from 0 to 1: above a half, the figures say more of the probe than of the function.
        perturbation: f64,
        /// What the function said it works on, `bytes` or `items`.
        unit: Option<String>,
        /// How many of them in all calls.
        units: Option<u64>,
        /// Ticks for each.
        ticks_per_unit: Option<f64>,
        /// How many of them in a second, at the counter's rate.
        units_per_second: Option<f64>,
        /// Of an async function: how often it was polled.
        polls: Option<u64>,
        /// Of an async function: the mean time from a call's first poll to its completion, in ticks, suspended or not.
        wall_mean_ticks: Option<f64>,
        /// Of an async function: futures that were dropped before completion.
        cancelled: Option<u64>,
    }
}

impl CallsiteReport {
    /// Whether a call is too short to be told from none, so that only many together mean something.
    #[must_use]
    pub fn is_below_resolution(&self) -> bool {
        self.mean_ticks.is_some_and(|mean| mean < RESOLVED_TICKS)
    }
}

figures! {
    /// The clock that the ticks were counted with.
    #[derive(Clone, Debug, Default)]
    #[non_exhaustive]
    #[cfg_attr(feature = "json", derive(serde::Serialize))]
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
        source: &'static str,
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
        /// Core cycles per tick while the program ran: the median of a few samples.
        core_cycles_per_tick: Option<f64>,
        /// The least of those samples.
        core_cycles_per_tick_min: Option<f64>,
        /// The greatest.
        core_cycles_per_tick_max: Option<f64>,
        /// What told the core's cycles: `reference chain`, `RDPRU` or `the PMU`.
        core_cycles_source: Option<String>,
        /// What each fence policy in use costs here.
        overheads: Vec<FenceOverhead>,
        /// What makes the figures bad, in sentences; empty if nothing is known to.
        warnings: Vec<String>,
        /// How many findings of the self-test are doubtful.
        doubts: u64,
        /// Whether anything in there is so bad that ticks are no measure of time.
        distrusted: bool,
    }
}

figures! {
    /// What a probe of one fence policy costs, measured in this process.
    #[derive(Clone, Debug)]
    #[non_exhaustive]
    #[cfg_attr(feature = "json", derive(serde::Serialize))]
    pub struct FenceOverhead {
        /// The policy, as the attribute takes it.
        fence: &'static str,
        /// What lies between the two reads of an empty function, in ticks: every raw figure contains it.
        visible_ticks: f64,
        /// How far that may be off for a function in its surroundings: the systematic error of every net figure of one call.
        visible_error_ticks: f64,
        /// What a caller pays for the whole probe, in ticks.
        total_ticks: f64,
        /// What it pays more for a probe that has others nested in it.
        nesting_ticks: f64,
    }
}

figures! {
    /// Calls of about one length.
    #[derive(Clone, Debug)]
    #[non_exhaustive]
    #[cfg_attr(feature = "json", derive(serde::Serialize))]
    pub struct Bucket {
        /// The least gross ticks (the function's own visible overhead inside) that fall in it.
        from_ticks: u64,
        /// How many calls did.
        calls: u64,
    }
}
