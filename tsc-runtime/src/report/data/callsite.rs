//! A callsite's figures, as data.

use super::getters::data;
use super::{Bucket, CallsiteSums, WholeTicks};

/// A mean below this cannot be distinguished from an empty call: a probe's surroundings change its visible overhead by as much.
const RESOLVED_TICKS: f64 = 30.0;

data! {
    /// What one annotated function took, over all threads.
    ///
    /// All ticks are net (the probes' own cost taken out) unless they say raw, gross or overhead. They are signed: the probes' cost is
    /// known on average only, and what is clamped no longer adds up. `None` is what is not known.
    #[derive(Default)]
    pub struct CallsiteReport {
        /// The attribute's `name = "…"`, or the function's path in its module.
        name: String,
        /// `module_path!()` of the function.
        module: String,
        /// The source file.
        file: String,
        /// The line of the function's name.
        line: u32,
        /// The fence policy, as the attribute takes it.
        fence: String,
        /// Whether the CPU has that policy's instructions; if not, `lfence`'s were executed.
        fence_supported: bool,
        /// Whether the function returns an `impl Iterator` or a `dyn Iterator`: what the iterator does is its consumer's, and not in
        /// this row.
        returns_iterator: bool,
        /// Calls that have returned.
        calls: u64,
        /// Calls that have started and not returned: in no other figure.
        running: u64,
        /// Calls that were not preempted, migrated or signalled, but each thread's first; `None` where that is not detected.
        clean: Option<u64>,
        /// Calls that were: the `repaired`, the `excluded`, and threads' first ones.
        interrupted: Option<u64>,
        /// Interrupted calls that are samples all the same, by their time on the CPU: it is 100 times what their switches leave
        /// uncertain. Threads' first calls are not counted here.
        repaired: Option<u64>,
        /// Interrupted calls that are no samples. They are in `calls` and the totals, and in no mean, minimum, maximum, deviation or
        /// quantile of time on the CPU where there are samples. Threads' first calls are not counted here: `clean`, `repaired` and
        /// `excluded` add up to `calls` less the first, the unknown and those without a measurement.
        excluded: Option<u64>,
        /// Calls of which it is not known, because the platform cannot tell, another library was in the way or their thread was
        /// ending. They count as samples.
        unknown: u64,
        /// Calls without a measurement, because the counter was reset or went backwards, or because a section was never stopped: in
        /// `calls` and in no ticks.
        anomalies: u64,
        /// Calls of over 30 hours at 2.6 GHz, or a counter that jumped: samples longer than the histogram has buckets for. They are
        /// in all sums and in `max_ticks`; quantiles end there.
        saturated: u64,
        /// The calls that mean, deviation, minimum, maximum and quantiles are over, by their time on the CPU: the clean and the
        /// repaired, and the unknown by the wall. If most calls are excluded, mean and quantiles are those of all calls.
        samples: u64,
        /// One in so many calls is timed; `None` if all are.
        sample: Option<u64>,
        /// The calls that were timed; `None` if all were.
        timed: Option<u64>,
        /// Inclusive ticks: with all callees; of a recursion, the outermost call's.
        total_ticks: f64,
        /// How far `total_ticks` may be off, up or down: what all probes in the calls may cost more or less than they did when they
        /// were calibrated.
        total_error_ticks: Option<f64>,
        /// Standard error of `total_ticks`, where only some calls were timed.
        total_std_error_ticks: Option<f64>,
        /// Ticks outside annotated callees.
        self_ticks: f64,
        /// Standard error of `self_ticks`, where only some calls of the function were timed or of those it calls.
        self_std_error_ticks: Option<f64>,
        /// Of `total_ticks`: on the CPU. `on_cpu_ticks + blocked_ticks + waiting_ticks = total_ticks`.
        on_cpu_ticks: Option<f64>,
        /// Of `self_ticks`: on the CPU.
        self_on_cpu_ticks: Option<f64>,
        /// Of `total_ticks`: the thread had given the CPU up, to sleep, for input or output, for a lock.
        blocked_ticks: Option<f64>,
        /// Of `total_ticks`: the thread was ready and another one ran.
        waiting_ticks: Option<f64>,
        /// Inclusive ticks before any correction.
        raw_ticks: f64,
        /// The correction: `raw_ticks - total_ticks = visible_overhead_ticks + nested_overhead_ticks + registration_overhead_ticks`.
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
        /// cost more or less than they did when they were calibrated. Down, `outlier_excess_mean_ticks` comes to it: the true mean
        /// lies between `mean_ticks` - 3 `std_error_ticks` - this - `outlier_excess_mean_ticks` and `mean_ticks` +
        /// 3 `std_error_ticks` + this.
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
        /// Samples from here on are outliers: timer interrupts and time that a hypervisor gives to others leave no other trace. It
        /// lies above the 99th percentile (of calls over 10 µs, a lower one, down to the 90th at 100 µs: that share may be hit
        /// by interrupts that come a thousand times a second) by four times that percentile's distance from the median, and by
        /// 400 ns. A rare slow path of the function looks the same, so outliers stay in all figures.
        outlier_threshold_ticks: Option<f64>,
        /// How many outliers there are.
        outliers: u64,
        /// What they make of the mean: without them, it would be less by so much. What they took beyond the mean of the others,
        /// spread over all samples.
        outlier_excess_mean_ticks: Option<f64>,
        /// The same as a share of `total_ticks`.
        outlier_excess_share: Option<f64>,
        /// Mean of the excluded calls' time on the CPU, in which their switches are.
        interrupted_mean_ticks: Option<f64>,
        /// Median of the same.
        interrupted_p50_ticks: Option<f64>,
        /// Threads that called it.
        threads: u64,
        /// The probes' share of the raw ticks: above a half, the figures say more of the probe than of the function.
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
        /// Mean time from a call's start to its end, on the CPU or not; of an async function, from its first poll to its completion. As
        /// the other figures by the wall, over all calls but each thread's first.
        wall_mean_ticks: Option<f64>,
        /// Median of the same.
        wall_p50_ticks: Option<f64>,
        /// 99 % of them are not longer.
        wall_p99_ticks: Option<f64>,
        /// The longest.
        wall_max_ticks: Option<f64>,
        /// Of an async function: futures that were dropped before completion.
        cancelled: Option<u64>,
        /// The samples, by their length: see [`Bucket`].
        histogram: Vec<Bucket>,
        /// The excluded calls, by their time on the CPU.
        interrupted_histogram: Vec<Bucket>,
        /// Calls by their time on the wall; empty if none was off the CPU.
        wall_histogram: Vec<Bucket>,
        /// What all of this follows from.
        sums: CallsiteSums,
        /// What each thread had of it, if that was asked for by `TSC_THREADS=1`; threads of one name together.
        thread_rows: Vec<ThreadReport>,
        /// What else was counted in its calls, if that was asked for by `TSC_EVENTS`.
        events: Vec<EventCount>,
    }
}

impl CallsiteReport {
    /// Whether a call cannot be distinguished from an empty one, so that only many together mean something.
    #[must_use]
    pub fn is_below_resolution(&self) -> bool {
        self.mean_ticks.is_some_and(|mean| mean < RESOLVED_TICKS)
    }
}

data! {
    /// What was counted of one event in a callsite's calls.
    #[derive(Default)]
    pub struct EventCount {
        /// Its name, as `TSC_EVENTS` has it.
        event: String,
        /// The calls that it was counted in: of a recursion, the outermost.
        calls: u64,
        /// How often it happened in all of them. Signed: what the reading counts of itself is taken out as far as it is known.
        count: i64,
    }
}

data! {
    /// One thread's part of a callsite, or that of all threads with the same name. Ticks are rounded to whole ones, so that parts add
    /// up exactly.
    #[derive(Default)]
    pub struct ThreadReport {
        /// The threads' name; `None` of those without.
        name: Option<String>,
        /// How many threads of this name called it.
        threads: u64,
        /// Calls that have returned.
        calls: u64,
        /// Inclusive net ticks.
        total_ticks: WholeTicks,
        /// Net ticks outside annotated callees.
        self_ticks: WholeTicks,
        /// Of `total_ticks`: on the CPU.
        on_cpu_ticks: Option<WholeTicks>,
    }
}
