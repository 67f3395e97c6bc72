//! The clock of light probes, as data.

use super::getters::data;
use super::share;

data! {
    /// The clock that tells light probes where the time goes: a thread that ticks at random intervals.
    pub struct TickClock {
        /// The mean interval between two ticks, in microseconds.
        mean_us: f64,
        /// The number of ticks. Not every thread notices each of them.
        ticks: u64 by Add,
        /// The CPU time of the clock's own thread, as a share of the time.
        cpu_share: f64,
        /// The time since it began, or since the last reset, in nanoseconds.
        age_ns: u64 by Add,
        /// The CPU time of the clock's own thread, in nanoseconds.
        cpu_ns: u64 by Add,
        /// The CPU time of threads outside of all annotated functions, since the first call of one, in ticks of the counter.
        outside_ticks: i64 by Add,
        /// The cost of probes that was subtracted from the self ticks of all functions. With these on the CPU, and with `outside_ticks`,
        /// it adds up to the CPU time of the threads.
        subtracted_ticks: f64,
        /// What a light probe costs its program for each call, in ticks of the counter.
        light_call_ticks: Option<f64>,
        /// The reason why no times are known, if so. The calls are counted.
        no_times_because: Option<String> by Known => Option<&str> = as_deref(),
    }
}

impl TickClock {
    pub(crate) fn derive(&mut self, subtracted: f64) {
        self.subtracted_ticks = subtracted;
        let age = self.age_ns as f64;
        self.mean_us = share(age, self.ticks as f64) / 1000.0;
        self.cpu_share = share(self.cpu_ns as f64, age);
    }
}
