//! A callsite's figures, as data.

use super::getters::data;
use super::{Bucket, CallsiteSums, SlowCall, WholeTicks};

data! {
    /// What one annotated function took, over all threads.
    ///
    /// All ticks are net, that is, without the probes' own cost, unless their name or description says raw, gross or overhead. They can be
    /// negative, because that cost is only known on average, and because clamped figures would not add up. `None` means unknown. From times
    /// by ticks of the clock, the cost of probes is taken out as far as it is known: `probe_ticks` states it.
    pub struct CallsiteReport {
        /// The attribute's `name = "…"`, or the function's path in its module.
        name: String => &str,
        /// `module_path!()` of the function.
        module: String => &str,
        /// The source file.
        file: String => &str,
        /// The line of the function's name.
        line: u32,
        /// `timed` or `light`: whether each call was timed, or counted and found by ticks of a clock. Of a light function, what describes
        /// single calls is unknown, except for the mean.
        probe: String => &str,
        /// The fence policy, as the attribute takes it; empty for light probes.
        fence: String => &str,
        /// Whether the CPU has the policy's instructions. If not, those of `lfence` were executed.
        fence_supported: bool by All,
        /// Whether the function returns an `impl Iterator` or a `dyn Iterator`. The work of the iterator is done, and counted, where it is
        /// consumed, and not in this row.
        returns_iterator: bool,
        /// Whether it is a section (`start!` … `stop!`). Sections may overlap: the self ticks of a section are also self ticks of the
        /// sections and of the annotated function around it.
        is_section: bool,
        /// Calls that have returned; of a light function, those that have started.
        calls: u64,
        /// Calls that have started and not returned. They are in no other figure. Of a light function it is 0, because `calls` has them. If
        /// reports were added, one that runs through several of them counts in each.
        running: u64,
        /// Calls that were not preempted, migrated or signalled, without each thread's first call. `None` if interruptions are not
        /// detected.
        clean: Option<u64>,
        /// Calls that were preempted, migrated or signalled: `repaired`, `excluded`, and interrupted first calls of threads.
        interrupted: Option<u64>,
        /// Interrupted calls that are samples nevertheless, because they take at least 100 times the uncertainty of their context
        /// switches, or were blocked for longer than these take. Threads' first calls are not counted here.
        repaired: Option<u64>,
        /// Interrupted calls that are not samples. They are in `calls`, in the totals and in the mean. If there are samples, they are
        /// not in minimum, maximum, deviation and quantiles. Threads' first calls are not counted here: `clean`, `repaired`
        /// and `excluded` add up to `calls` minus the first calls, the `unknown` ones and the `anomalies`.
        excluded: Option<u64>,
        /// Calls of which it is unknown whether they were interrupted, because the platform does not detect it, another library used the
        /// detector, or the thread was ending. They count as samples.
        unknown: u64,
        /// Calls without a measurement, because the counter was reset or went backwards, or because a section was never stopped. They are
        /// in `calls`, but have no ticks.
        anomalies: u64,
        /// Calls that a panic ended, and not a return; of an async function, such polls. Their ticks count like those of other calls. A
        /// call from a destructor that runs while a panic unwinds the thread is counted as well. Not counted of a light function.
        panicked: u64,
        /// Samples that are longer than the histogram's last bucket: calls of over 30 hours at 2.6 GHz, or during which the counter stepped.
        /// They are in all sums and in `max_ticks`. Quantiles do not go beyond the last bucket.
        saturated: u64,
        /// The calls from which deviation, minimum, maximum and quantiles are computed: the clean, the repaired and the unknown ones. If most
        /// calls are excluded, quantiles are of all calls.
        samples: u64,
        /// How many ticks of the clock found the function on the CPU, outside annotated callees, if the program has light probes. The more, the
        /// more exact are its self ticks.
        clock_ticks: Option<u64>,
        /// Inclusive ticks, that is, with all callees, on the CPU and blocked: what the calls would take on a free machine. Time waiting for
        /// a CPU is not in them, as far as it is known. Of a recursion, only the outermost call is added. In a program with light probes,
        /// the totals and self ticks of all functions, except for sections, are times by ticks of the clock; 0 if no times are known.
        total_ticks: f64,
        /// `total_ticks + waiting_ticks`: the same by wall time.
        wall_ticks: f64,
        /// The error of `total_ticks` in either direction: by how much the cost of all probes in the calls may differ from their
        /// calibration, and how much longer the calls may take because of other probes (`crowding_error_share`).
        total_error_ticks: Option<f64>,
        /// Ticks outside annotated callees, on the CPU and blocked.
        self_ticks: f64,
        /// The standard error of `self_ticks`, if the program has light probes: 1.25 times what the number of ticks of the clock explains,
        /// because runs differ for other reasons, too.
        self_std_error_ticks: Option<f64>,
        /// What the function's probes cost, if its time is by ticks of the clock: the calls times the calibrated cost of one and, of light
        /// probes, times 1.75, because they cost more in programs than around empty functions. Of these, two thirds are subtracted from its
        /// self ticks and one third from its callers', but from no function more than half. That of timed probes is subtracted from its self
        /// ticks up to 95 % of them.
        probe_ticks: Option<f64>,
        /// The error of `self_on_cpu_ticks` in either direction, at 95 %: the root of the sum of the squares of its parts. Of a timed function,
        /// these are `crowding_error_share` of these ticks; `visible_error_ticks` for each call; a third of `total_error_ticks` for each probe in
        /// the calls; and what the interruptions outside annotated callees have left in them, as far as interrupted calls tell. By ticks of the
        /// clock, they are two standard errors by the number of ticks alone, and a few ticks' time where few were found; and, for what the
        /// compiler arranges in another way without probes, half of the geometric mean of what the probes took (`probe_ticks` or, if that is
        /// more, what was subtracted for probes) and what the function took with them. Of a timed function, they are at least
        /// the difference by which ticks and calls contradict each other.
        self_error_ticks: Option<f64>,
        /// The part of `total_ticks` on the CPU. `on_cpu_ticks + blocked_ticks = total_ticks`.
        on_cpu_ticks: Option<f64>,
        /// The part of `self_ticks` on the CPU.
        self_on_cpu_ticks: Option<f64>,
        /// The part of `total_ticks` in which the thread had given up the CPU: to sleep, for input or output, or for a lock.
        blocked_ticks: Option<f64>,
        /// The part of `wall_ticks` in which the thread was ready to run while another thread ran, or a hypervisor had taken the CPU, if the
        /// kernel tells.
        waiting_ticks: Option<f64>,
        /// Inclusive ticks before any correction.
        raw_ticks: f64,
        /// The correction: `raw_ticks - wall_ticks = visible_overhead_ticks + nested_overhead_ticks + registration_overhead_ticks`.
        overhead_ticks: f64,
        /// The part of the overhead that the function's own probes add to what they measure: the visible overhead of one probe for each
        /// call (of a recursion, for each outermost call). Of a light function, what was subtracted from its self ticks.
        visible_overhead_ticks: f64,
        /// The part of the overhead from probes nested in the calls, at their calibrated cost. Of a light function, what was subtracted from
        /// the self ticks of others in its calls.
        nested_overhead_ticks: f64,
        /// The part of the overhead that is not from probes: registering other callsites at their first calls inside these calls, and
        /// reports made inside. It is measured each time.
        registration_overhead_ticks: f64,
        /// Mean of all calls; of a light function, `total_ticks / calls`.
        mean_ticks: Option<f64>,
        /// Standard error of the mean: that of the samples, and by how much the other calls change the mean.
        std_error_ticks: Option<f64>,
        /// The systematic error of the mean in either direction, in addition to the standard error: by how much the cost of the function's
        /// own probe and of those nested in its calls may differ from their calibration. Outliers may raise the mean further. So the true
        /// mean lies between `mean_ticks` - 3 `std_error_ticks` - this - `outlier_excess_mean_ticks` and `mean_ticks` + 3 `std_error_ticks`
        /// + this.
        systematic_error_ticks: Option<f64>,
        /// Standard deviation of the samples.
        stddev_ticks: Option<f64>,
        /// The smallest sample.
        min_ticks: Option<f64>,
        /// Median. Like all quantiles, it is accurate to 1/64 of the gross ticks, which include the visible overhead.
        p50_ticks: Option<f64>,
        /// 90 % of the samples are not longer.
        p90_ticks: Option<f64>,
        /// 99 % of the samples are not longer.
        p99_ticks: Option<f64>,
        /// 99.9 % of the samples are not longer.
        p999_ticks: Option<f64>,
        /// The largest sample.
        max_ticks: Option<f64>,
        /// The first call of the process, with cold caches; interrupted or not.
        first_ticks: Option<f64>,
        /// The mean of all calls before any correction.
        mean_raw_ticks: Option<f64>,
        /// The smallest sample before any correction; unknown for a function whose calls contain other probes.
        min_raw_ticks: Option<f64>,
        /// Samples of at least this length are outliers, because timer interrupts and time that a hypervisor gives to other guests leave no
        /// other trace. The threshold lies above the 99th percentile by 400 ns and by four times that percentile's distance from the
        /// median. For calls over 10 µs it is a lower percentile, down to the 90th at 100 µs, because interrupts that come a thousand times
        /// a second hit that many of them. A rare slow path of the function looks the same, so outliers stay in all figures. Unknown for
        /// a function that calls itself, whose outer calls are rare and long.
        outlier_threshold_ticks: Option<f64>,
        /// The number of outliers.
        outliers: u64,
        /// By how much the outliers raise the mean: the time that they took in excess of the mean of the other samples, divided by the
        /// number of all samples.
        outlier_excess_mean_ticks: Option<f64>,
        /// The excess of the outliers as a share of `total_ticks`.
        outlier_excess_share: Option<f64>,
        /// Mean of the excluded calls, which includes the cost of their context switches.
        interrupted_mean_ticks: Option<f64>,
        /// Median of the excluded calls.
        interrupted_p50_ticks: Option<f64>,
        /// Threads that called it. If reports of one process were added, a thread counts in each.
        threads: u64,
        /// The probes' share of the raw ticks on the CPU. Above one half, the figures say more about the probes than about the function. Of a
        /// light function, `probe_ticks` as a share of the self ticks on the CPU before the correction, and at most 1.
        perturbation: f64,
        /// What the attribute counts, `bytes` or `items`.
        unit: Option<String> => Option<&str> = as_deref(),
        /// The number of bytes or items in all calls.
        units: Option<u64>,
        /// Ticks per byte or item.
        ticks_per_unit: Option<f64>,
        /// Bytes or items per second, at the counter's rate.
        units_per_second: Option<f64>,
        /// Of an async function: how often it was polled.
        polls: Option<u64>,
        /// The longest poll, on the CPU and blocked. For so long, the executor's thread could run nothing else.
        poll_max_ticks: Option<f64>,
        /// Mean wall time: from a call's start to its end, waiting for a CPU or not; of an async function, from its first poll to its completion.
        wall_mean_ticks: Option<f64>,
        /// Median wall time. Unlike the mean, this and the next two are over all calls except each thread's first.
        wall_p50_ticks: Option<f64>,
        /// 99 % of the calls are not longer by wall time.
        wall_p99_ticks: Option<f64>,
        /// The longest call by wall time.
        wall_max_ticks: Option<f64>,
        /// Of an async function: futures that were polled, and dropped before completion.
        cancelled: Option<u64>,
        /// The samples by their length: see [`Bucket`].
        histogram: Vec<Bucket> by Add => &[Bucket],
        /// The excluded calls by their length.
        interrupted_histogram: Vec<Bucket> by Add => &[Bucket],
        /// Calls by their wall time; empty if none was off the CPU.
        wall_histogram: Vec<Bucket> => &[Bucket],
        /// The sums from which all of these figures follow.
        sums: CallsiteSums => &CallsiteSums,
        /// Each thread's part, with `TSC_THREADS=on`. Threads with the same name are added up.
        thread_rows: Vec<ThreadReport> => &[ThreadReport],
        /// The events that `TSC_EVENTS` asks for, counted in the calls.
        events: Vec<EventCount> => &[EventCount],
        /// The slowest calls, the slowest first: up to as many as the report's `slowest_calls`. None of a light function. On x86,
        /// calls below 512 ticks are left out unless they were interrupted.
        slowest: Vec<SlowCall> => &[SlowCall],
    }
}

/// [`CallsiteReport::probe`] of functions of which each call is timed.
pub const TIMED: &str = "timed";
/// [`CallsiteReport::probe`] of functions whose calls are counted, and found by ticks of a clock.
pub const LIGHT: &str = "light";

impl CallsiteReport {
    pub(crate) fn is_light(&self) -> bool {
        self.probe == LIGHT
    }

    /// A call with a smaller mean cannot be distinguished from an empty one, because the code around a probe changes its visible overhead by
    /// as much.
    #[doc(hidden)]
    pub const RESOLVED_TICKS: f64 = 30.0;

    /// Whether a timed call cannot be distinguished from an empty one, so that only many together mean something.
    #[must_use]
    pub fn is_below_resolution(&self) -> bool {
        self.is_unresolved(self.mean_ticks)
    }

    /// Whether a time of single calls cannot be distinguished from that of an empty one. Times by ticks of the clock are means of many calls.
    #[doc(hidden)]
    #[must_use]
    pub fn is_unresolved(&self, ticks: Option<f64>) -> bool {
        !self.is_light() && ticks.is_some_and(|ticks| ticks < Self::RESOLVED_TICKS)
    }
}

data! {
    /// What was counted of one event in a callsite's calls.
    pub struct EventCount {
        /// The event's name in `TSC_EVENTS`.
        event: String => &str,
        /// The calls in which it was counted; of a recursion, the outermost ones.
        calls: u64 by Add,
        /// How often it happened in all of these calls. It can be negative, because the events that reading the counters causes are
        /// subtracted as far as they are known.
        count: i64 by Add,
    }
}

data! {
    /// One thread's part of a callsite, or that of all threads with the same name. Ticks are rounded to whole ones, so that parts add
    /// up exactly.
    pub struct ThreadReport {
        /// The threads' name; `None` for threads without a name.
        name: Option<String> => Option<&str> = as_deref(),
        /// The number of threads with this name that called it. If reports of one process were added, a thread counts in each.
        threads: u64 by Latest,
        /// Calls that have returned.
        calls: u64 by Add,
        /// Inclusive net ticks, on the CPU and blocked.
        total_ticks: WholeTicks by Add => f64 = to_f64(),
        /// Net ticks outside annotated callees, on the CPU and blocked.
        self_ticks: WholeTicks by Add => f64 = to_f64(),
        /// The part of `total_ticks` on the CPU.
        on_cpu_ticks: Option<WholeTicks> by Add => Option<f64> = map(WholeTicks::to_f64),
        /// The part of `self_ticks` on the CPU.
        self_on_cpu_ticks: Option<WholeTicks> by Add => Option<f64> = map(WholeTicks::to_f64),
    }
}
