//! Computes a callsite's figures from its sums.

mod errors;
mod interruptions;
mod light_probes;
mod outliers;
mod statistics;
mod ticked;

use std::cmp::Ordering;

use crate::data::histogram::{self, LAST, middle};
use crate::data::rules::Combine;
use crate::data::{saturating_sum, share};
use crate::order::order;
use crate::{Bucket, CallsiteReport, CallsiteSums, Clock, Report};
use errors::derive_errors;
use outliers::Outliers;
use statistics::{mean, stddev};
pub use ticked::SQUARES_UNIT;

impl Report {
    /// Computes the figures that follow from sums, and sorts the callsites.
    #[doc(hidden)]
    pub fn derive(&mut self) {
        for callsite in &mut self.callsites {
            callsite.derive(&self.clock);
        }
        let subtracted = light_probes::subtract(&mut self.callsites, &mut self.contexts);
        for callsite in self.callsites.iter_mut().filter(|of| of.is_light()) {
            callsite.derive_units(&self.clock);
        }
        let outside = self.tick_clock.as_ref().map(|clock| clock.outside_ticks);
        let outside = outside.unwrap_or(0) as f64;
        derive_errors(&mut self.callsites, &self.clock, outside);
        if let Some(clock) = &mut self.tick_clock {
            clock.derive(subtracted);
        }
        let order = order(&self.callsites, &CallsiteReport::by_self);
        self.choose_callsites(&order);
    }
}

impl CallsiteReport {
    /// The order of a report: by descending self ticks on the CPU, which other processes do not change, and then by name, so that the
    /// order is the same in every run.
    fn by_self(one: &Self, other: &Self) -> Ordering {
        let name = |of: &Self| (of.module.clone(), of.name.clone(), of.line);
        let by_ticks = other.self_on_cpu().total_cmp(&one.self_on_cpu());
        by_ticks.then_with(|| name(one).cmp(&name(other)))
    }

    /// Ticks outside annotated callees: on the CPU if that is known, otherwise by wall time.
    #[doc(hidden)]
    #[must_use]
    pub fn self_on_cpu(&self) -> f64 {
        self.self_on_cpu_ticks.unwrap_or(self.self_ticks)
    }

    /// The histogram of the calls' wall times.
    pub(crate) fn by_wall(&self) -> &Vec<Bucket> {
        if self.wall_histogram.is_empty() {
            &self.histogram
        } else {
            &self.wall_histogram
        }
    }

    /// Computes all figures from the sums, the histograms and the clock.
    #[doc(hidden)]
    pub fn derive(&mut self, clock: &Clock) {
        self.derive_all(clock, self.is_by_ticks());
    }

    /// Computes the figures of some threads' part of `whole`. So that the parts add up, they are by ticks of the clock if the whole is, even of
    /// a thread whose calls came before the first light one.
    #[doc(hidden)]
    pub fn derive_part(&mut self, whole: &Self, clock: &Clock) {
        let is_by_ticks = whole.is_by_ticks();
        if !is_by_ticks {
            (self.sums.clock_ticks, self.sums.ticked) = (0, 0);
        }
        self.derive_all(clock, is_by_ticks);
    }

    fn derive_all(&mut self, clock: &Clock, is_by_ticks: bool) {
        let visible = self.sums.visible();
        self.derive_counts(clock);
        self.derive_totals(clock);
        self.derive_samples(visible);
        self.derive_outliers(clock, visible);
        self.derive_interrupted(visible);
        self.derive_wall(visible);
        // Ticks of the clock do not find calls that began before the first light one, but these have units, and the mean is also theirs.
        self.derive_units(clock);
        self.derive_by_ticks(clock, is_by_ticks);
        self.derive_futures(visible);
    }

    fn derive_counts(&mut self, clock: &Clock) {
        let sums = &self.sums;
        let detected = sums.is_detected(clock);
        let interrupted = saturating_sum([sums.repaired, sums.excluded, sums.firsts_interrupted]);
        self.calls = sums.calls();
        self.running = sums.running;
        // The counters are read while other threads record. So a call may already be in `unknown` but not yet in `samples`.
        let unclean = saturating_sum([sums.repaired, sums.unknown]);
        let clean = sums.samples.saturating_sub(unclean);
        self.clean = detected.then_some(clean);
        self.interrupted = detected.then_some(interrupted);
        self.repaired = detected.then_some(sums.repaired);
        self.excluded = detected.then_some(sums.excluded);
        self.unknown = sums.unknown;
        self.anomalies = sums.anomalies;
        self.panicked = sums.panicked;
        self.samples = sums.samples;
        self.threads = sums.threads;
        let longest = self.histogram.last().filter(|of| of.from_ticks == LAST);
        self.saturated = longest.map_or(0, |of| of.calls);
    }

    /// The sums over all calls, after the correction for overhead.
    fn derive_totals(&mut self, clock: &Clock) {
        let sums = &self.sums;
        let gross = sums.gross().wrapping_sub(sums.inner_gross) as f64;
        let nested = sums.nested.wrapping_sub(sums.inner_nested) as f64;
        let (all_visible, inner_visible) = (sums.visible_milliticks, sums.inner_visible_milliticks);
        let visible = all_visible.wrapping_sub(inner_visible) as f64 / 1000.0;
        let on_cpu = gross - visible;
        let own_on_cpu = sums.own_on_cpu();
        let (off, waiting) = (sums.off as f64, sums.waiting as f64);
        let blocked = sums.off.wrapping_sub(sums.waiting) as f64;
        let own_blocked = sums.own_off.wrapping_sub(sums.own_waiting) as f64;
        self.total_ticks = on_cpu + blocked;
        self.wall_ticks = on_cpu + off;
        self.self_ticks = own_on_cpu + own_blocked;
        self.raw_ticks = gross + off + nested;
        self.overhead_ticks = visible + nested;
        self.visible_overhead_ticks = visible;
        self.registration_overhead_ticks = sums.registration as f64;
        self.nested_overhead_ticks = nested - self.registration_overhead_ticks;
        self.perturbation = share(self.overhead_ticks, on_cpu + self.overhead_ticks);
        let is_known = sums.is_on_cpu_known(clock);
        let is_split = is_known && sums.unsplit == 0;
        self.on_cpu_ticks = is_known.then_some(on_cpu);
        self.self_on_cpu_ticks = is_known.then_some(own_on_cpu);
        self.blocked_ticks = is_split.then_some(blocked);
        self.waiting_ticks = is_split.then_some(waiting);
        self.derive_errors_of_totals(clock);
    }

    fn derive_errors_of_totals(&mut self, clock: &Clock) {
        let sums = &self.sums;
        let overhead = clock.overhead(&self.fence);
        let own_error = overhead.map(|of| of.visible_error_ticks);
        let outermost = sums.probes().saturating_sub(sums.inner) as f64;
        let nested = self.nested_overhead_ticks.max(0.0) * clock.total_error_share();
        let on_cpu = self.on_cpu_ticks.unwrap_or(self.total_ticks);
        let crowding = clock.crowding_error_share * on_cpu.max(0.0);
        self.total_error_ticks = own_error.map(|own| outermost * own + crowding + nested);
        self.systematic_error_ticks = own_error
            .filter(|_| sums.samples != 0)
            .map(|own| (own + nested_error_of_a_probe(sums, clock)) * self.probes_a_call());
    }

    /// How many probes a call has: one, or one for each poll of a future.
    fn probes_a_call(&self) -> f64 {
        match (self.sums.polls, self.sums.calls()) {
            (0, _) | (_, 0) => 1.0,
            (polls, calls) => polls as f64 / calls as f64,
        }
    }

    fn derive_samples(&mut self, visible: f64) {
        let sums = &self.sums;
        let net = |gross: i64| gross as f64 - visible;
        // If most calls are excluded because they are too short compared with their context switches (for example, if they always sleep),
        // the few samples are not typical. Then the figures are computed from all calls.
        let mut all = Vec::new();
        let (stddev, extremes, buckets) = if sums.excluded > sums.samples {
            all.clone_from(&self.histogram);
            all.merge(&self.interrupted_histogram);
            (None, None, &all)
        } else {
            let extremes = sums.min.zip(sums.max);
            (stddev(sums), extremes, &self.histogram)
        };
        let (ticks, calls) = sums.measured();
        let gross = mean(ticks, calls);
        let moved = gross.unwrap_or(0.0) - mean(sums.sum, sums.samples).unwrap_or(0.0);
        self.mean_ticks = gross.map(|gross| gross - visible);
        self.stddev_ticks = stddev;
        self.std_error_ticks = stddev.map(|of| (of / (sums.samples as f64).sqrt()).hypot(moved));
        self.min_ticks = extremes.map(|(min, _)| net(min));
        self.max_ticks = extremes.map(|(_, max)| net(max));
        // The middle of a bucket may be outside the range of its samples.
        let quantile = |share| {
            let ticks = middle(histogram::quantile(buckets, share)?) - visible;
            let (min, max) = extremes.unwrap_or((i64::MIN, i64::MAX));
            // `clamp` would panic if `min` is greater than `max`, as may be in a file that somebody has edited.
            Some(ticks.max(net(min)).min(net(max)))
        };
        let [p50, p90, p99, p999] = [0.5, 0.9, 0.99, 0.999].map(quantile);
        (self.p50_ticks, self.p90_ticks) = (p50, p90);
        (self.p99_ticks, self.p999_ticks) = (p99, p999);
        self.first_ticks = sums.first.map(|first| net(first.ticks));
        let raw = sums.gross().wrapping_add(sums.nested);
        self.mean_raw_ticks = mean(raw.wrapping_add(sums.off), calls);
        self.min_raw_ticks = sums.min.filter(|_| sums.nested == 0).map(|min| min as f64);
    }

    fn derive_outliers(&mut self, clock: &Clock, visible: f64) {
        // The outer calls of a recursion are as long as all calls in them. They are rare and long, and neither the system's doing nor the
        // hypervisor's.
        let found = Outliers::find(&self.sums, &self.histogram, clock.hz);
        let found = found.filter(|_| self.sums.inner == 0);
        let excess = found.as_ref().map(|of| of.excess);
        self.outlier_threshold_ticks = found.as_ref().map(|of| of.threshold - visible);
        self.outliers = found.map_or(0, |of| of.count);
        self.outlier_excess_mean_ticks = excess.map(|of| of / self.sums.samples as f64);
        let excess = excess.filter(|_| self.total_ticks > 0.0);
        self.outlier_excess_share = excess.map(|of| (of / self.total_ticks).min(1.0));
    }

    fn derive_interrupted(&mut self, visible: f64) {
        let sums = &self.sums;
        let mean = mean(sums.excluded_sum, sums.excluded);
        let median = histogram::quantile(&self.interrupted_histogram, 0.5);
        self.interrupted_mean_ticks = mean.map(|gross| gross - visible);
        self.interrupted_p50_ticks = median.map(|from| middle(from) - visible);
    }

    fn derive_wall(&mut self, visible: f64) {
        let sums = &self.sums;
        let (gross_mean, longest, visible) = if self.is_async() {
            // The difference for a future is not the probe's overhead, but the time between polls.
            let mean = mean(sums.wall.cast_signed(), sums.calls());
            (mean, sums.wall_max, 0.0)
        } else {
            let (ticks, calls) = sums.measured();
            let mean = mean(ticks.wrapping_add(sums.calls_waiting), calls);
            (mean, sums.wall_max.max(sums.max), visible)
        };
        let longest = longest.map(|gross| gross as f64 - visible);
        let quantile = |share| {
            let from = histogram::quantile(self.by_wall(), share)?;
            Some((middle(from) - visible).min(longest?))
        };
        let quantiles = (quantile(0.5), quantile(0.99));
        self.wall_mean_ticks = gross_mean.map(|mean| mean - visible);
        (self.wall_p50_ticks, self.wall_p99_ticks) = quantiles;
        self.wall_max_ticks = longest;
    }

    fn is_async(&self) -> bool {
        self.sums.polls != 0 || self.sums.cancelled != 0
    }

    fn derive_units(&mut self, clock: &Clock) {
        self.units = self.unit.as_ref().map(|_| self.sums.units);
        let units = self.units.filter(|&units| units != 0);
        self.ticks_per_unit = units.map(|units| self.total_ticks / units as f64);
        let per_unit = self.ticks_per_unit.filter(|&ticks| ticks > 0.0);
        self.units_per_second = clock.hz.zip(per_unit).map(|(hz, ticks)| hz / ticks);
    }

    fn derive_futures(&mut self, visible: f64) {
        let sums = &self.sums;
        let is_async = self.is_async();
        self.polls = is_async.then_some(sums.polls);
        self.poll_max_ticks = sums.poll_max.map(|gross| gross as f64 - visible);
        self.cancelled = is_async.then_some(sums.cancelled);
    }
}

/// By how much the cost of the probes nested in one call, or in one poll, may differ from their calibration.
fn nested_error_of_a_probe(sums: &CallsiteSums, clock: &Clock) -> f64 {
    let nested = sums.nested.wrapping_sub(sums.registration);
    mean(nested, sums.probes()).unwrap_or(0.0).max(0.0) * clock.total_error_share()
}

#[cfg(test)]
mod tests {
    use super::errors::NESTED;
    use super::*;
    use crate::data::FenceOverhead;
    use crate::data::histogram::beginning;
    use crate::data::histogram::tests::histogram;

    /// The report of calls with these gross ticks; each contains `visible` ticks of visible overhead.
    fn report(
        samples: &[i64],
        visible: i64,
        change: impl FnOnce(&mut CallsiteSums),
    ) -> CallsiteReport {
        let values = samples.iter().map(|&sample| sample.max(0).cast_unsigned());
        let mut report = CallsiteReport {
            histogram: histogram(values),
            sums: CallsiteSums {
                visible_milliticks: samples.len() as i64 * visible * 1000,
                ..CallsiteSums::of(samples)
            },
            ..CallsiteReport::default()
        };
        change(&mut report.sums);
        report.derive(&Clock::default());
        report
    }

    #[test]
    fn outer_calls_of_a_recursion_are_no_outliers() {
        let calls: Vec<i64> = (0..2_000)
            .map(|call| if call % 500 == 0 { 90_000_000 } else { 1_000 })
            .collect();
        let plain = report(&calls, 0, |_| {});
        assert_eq!(plain.outliers, 4);
        let recursive = report(&calls, 0, |sums| sums.inner = 1_996);
        assert_eq!(
            (recursive.outliers, recursive.outlier_excess_share),
            (0, None)
        );
    }

    #[test]
    fn recursion_counts_the_outermost_call_only() {
        let of = report(&[300, 200, 100], 0, |sums| {
            (sums.inner, sums.inner_gross, sums.callees) = (2, 300, 300);
        });
        assert_eq!(
            (of.total_ticks, of.self_ticks, of.raw_ticks),
            (300.0, 300.0, 300.0)
        );
    }

    #[test]
    fn each_call_of_a_recursion_adds_to_the_error_of_its_self_ticks() {
        let mut of = report(&[300, 200, 100], 0, |sums| {
            (sums.inner, sums.inner_gross, sums.callees) = (2, 300, 300);
            sums.nested = 400;
        });
        assert_eq!(of.self_error_ticks, None);
        of.fence = "lfence".to_owned();
        let clock = Clock {
            overheads: vec![FenceOverhead {
                fence: "lfence".to_owned(),
                visible_error_ticks: 5.0,
                total_ticks: 100.0,
                total_error_ticks: 50.0,
                ..FenceOverhead::default()
            }],
            crowding_error_share: 0.1,
            ..Clock::default()
        };
        of.derive(&clock);
        let mut rows = [of];
        derive_errors(&mut rows, &clock, 0.0);
        let [of] = rows;
        // One call is outermost, and four probes' cost is in the calls, of whose error self ticks have the part that every probe adds.
        assert_eq!(of.total_error_ticks, Some(5.0 + 30.0 + 4.0 * 50.0));
        let of_self = (3.0_f64 * 5.0).hypot(4.0 * 50.0 * NESTED).hypot(30.0);
        assert_eq!(of.self_error_ticks, Some(of_self));
    }

    #[test]
    fn corrections_add_up() {
        let of = report(&[1000, 1100], 40, |sums| {
            (sums.nested, sums.callees, sums.registration) = (500, 300, 400);
        });
        assert_eq!(of.raw_ticks, 2600.0);
        assert_eq!(
            (of.nested_overhead_ticks, of.registration_overhead_ticks),
            (100.0, 400.0)
        );
        assert_eq!(
            of.total_ticks,
            of.raw_ticks
                - of.visible_overhead_ticks
                - of.nested_overhead_ticks
                - of.registration_overhead_ticks
        );
        assert_eq!(of.self_ticks, 2100.0 - 300.0 - 80.0);
        assert_eq!(of.mean_ticks, Some(1010.0));
    }

    #[test]
    fn total_is_on_the_cpu_and_blocked_and_wall_is_waiting_besides() {
        let of = report(&[1000, 5000], 0, |sums| {
            (sums.firsts, sums.first_sum) = (1, 2_000);
            (sums.repaired, sums.excluded, sums.excluded_sum) = (1, 1, 600);
            (sums.calls_blocked, sums.calls_waiting) = (4_500, 300);
            (sums.off, sums.waiting) = (4_900, 400);
            (sums.own_off, sums.own_waiting) = (900, 100);
            sums.callees = 3_000;
        });
        assert_eq!((of.total_ticks, of.wall_ticks), (8_600.0, 9_000.0));
        let parts = [of.on_cpu_ticks, of.blocked_ticks, of.waiting_ticks];
        assert_eq!(parts.map(Option::unwrap), [4_100.0, 4_500.0, 400.0]);
        assert_eq!(
            (of.self_ticks, of.self_on_cpu_ticks),
            (1_900.0, Some(1_100.0))
        );
        assert_eq!(
            (of.mean_ticks, of.max_ticks),
            (Some(2_150.0), Some(5_000.0))
        );
        assert_eq!(of.wall_mean_ticks, Some(2_225.0));
        assert_eq!(4.0 * of.mean_ticks.unwrap(), of.total_ticks);
    }

    #[test]
    fn what_calls_without_samples_add_is_an_error_of_the_mean() {
        let of = report(&[100; 8], 0, |sums| {
            (sums.firsts, sums.first_sum) = (2, 900)
        });
        assert_eq!(of.mean_ticks, Some(170.0));
        assert_eq!(
            (of.stddev_ticks, of.std_error_ticks),
            (Some(0.0), Some(70.0))
        );
    }

    #[test]
    fn single_call_has_a_mean() {
        let of = report(&[], 0, |sums| (sums.firsts, sums.first_sum) = (1, 7_000));
        assert_eq!((of.calls, of.mean_ticks), (1, Some(of.total_ticks)));
        assert_eq!(report(&[], 0, |_| {}).mean_ticks, None);
    }

    #[test]
    fn figures_are_signed() {
        let of = report(&[-10, 5], 40, |_| {});
        assert_eq!((of.total_ticks, of.self_ticks), (-85.0, -85.0));
        assert_eq!(
            (of.mean_ticks, of.min_ticks, of.max_ticks),
            (Some(-42.5), Some(-50.0), Some(-35.0))
        );
        assert_eq!(of.overhead_ticks, of.visible_overhead_ticks);
    }

    #[test]
    fn quantiles_lie_between_the_extremes() {
        let of = report(&[1001], 0, |_| {});
        assert_eq!([of.p50_ticks, of.p999_ticks], [Some(1001.0); 2]);
        assert_eq!((of.saturated, beginning(1001)), (0, 992));
        assert_eq!(report(&[1 << 50, 3], 0, |_| {}).saturated, 1);
    }
}
