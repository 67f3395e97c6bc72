//! One callsite's figures: the arithmetic from sums to statistics.

use super::gaps::Gaps;
use super::statistics::{Statistics, mean};
use super::{Bucket, CallsiteReport, name};
use crate::calibration::Rate;
use crate::calibration::overhead;
use crate::interruption;
use crate::record::callsite::{Callsite, Unit};
use crate::record::histogram::{bucket, least};
use crate::record::not_below_zero;
use crate::record::totals::Totals;

impl CallsiteReport {
    pub(super) fn new(callsite: &Callsite, totals: &Totals, rate: Option<&Rate>) -> Self {
        let fence = callsite.fence();
        let overhead = overhead::of(fence);
        let visible = overhead.visible;
        let sums = Sums::new(totals, visible);
        let statistics = Statistics::new(totals, visible);
        let told = interruption::unavailable().is_none()
            && (totals.unknown == 0 || totals.unknown < totals.samples);
        let interrupted = totals.interrupted + totals.firsts_interrupted;
        let net = |gross: f64| (gross - visible).max(0.0);
        let (min, max) = (
            totals.min.map(|min| net(min as f64)),
            totals.max.map(|max| net(max as f64)),
        );
        // A bucket's middle may lie beyond the samples in it.
        let quantile = |gross: Option<f64>| Some(net(gross?).clamp(min?, max?));
        let [p50, p90, p99, p999] =
            [0.5, 0.9, 0.99, 0.999].map(|share| totals.histogram.quantile(share));
        let gaps = p50
            .zip(p99)
            .map(|(p50, p99)| Gaps::find(totals, p50, p99, rate.map(|rate| rate.hz)));
        let futures = totals.polls != 0 || totals.cancelled != 0;
        let meta = callsite.meta();
        let unit = meta.unit.map(|unit| match unit {
            Unit::Bytes => "bytes",
            Unit::Items => "items",
        });
        let per_unit = (totals.units != 0).then(|| sums.total / totals.units as f64);
        Self {
            name: name::of(callsite),
            module: meta.module,
            file: meta.file,
            line: meta.line,
            fence: fence.name(),
            fence_supported: fence.is_supported(),
            calls: totals.calls(),
            running: totals.running,
            // A call that stops meanwhile may be read as unknown and not yet as a call.
            clean: told.then(|| {
                totals
                    .calls()
                    .saturating_sub(interrupted + totals.anomalies + totals.unknown)
            }),
            interrupted: told.then_some(interrupted),
            unknown: totals.unknown,
            anomalies: totals.anomalies,
            saturated: saturated(totals),
            samples: totals.samples,
            total_ticks: sums.total,
            self_ticks: sums.own,
            raw_ticks: sums.raw,
            overhead_ticks: sums.raw - sums.total,
            visible_overhead_ticks: sums.visible,
            nested_overhead_ticks: sums.nested,
            registration_overhead_ticks: sums.registration,
            mean_ticks: statistics.as_ref().map(|of| of.mean.max(0.0)),
            std_error_ticks: statistics.as_ref().and_then(|of| of.std_error),
            systematic_error_ticks: statistics
                .as_ref()
                .map(|_| overhead.visible_error + nested_error(totals)),
            stddev_ticks: statistics.as_ref().and_then(|of| of.stddev),
            min_ticks: min,
            p50_ticks: quantile(p50),
            p90_ticks: quantile(p90),
            p99_ticks: quantile(p99),
            p999_ticks: quantile(p999),
            max_ticks: max,
            first_ticks: totals.first.map(|(_, first)| net(first as f64)),
            mean_raw_ticks: mean(
                totals.gross() + totals.nested,
                totals.calls() - totals.anomalies,
            ),
            min_raw_ticks: totals
                .min
                .filter(|_| totals.nested == 0)
                .map(|min| min as f64),
            gap_threshold_ticks: gaps.as_ref().map(|gaps| net(gaps.threshold)),
            gaps: gaps.as_ref().map_or(0, |gaps| gaps.count),
            stolen_mean_ticks: gaps
                .as_ref()
                .map(|gaps| gaps.excess / totals.samples as f64),
            stolen_share: gaps
                .filter(|_| sums.total > 0.0)
                // A recursion has the same gap in every activation.
                .map(|gaps| (gaps.excess / sums.total).min(1.0)),
            interrupted_histogram: totals
                .interrupted_histogram
                .buckets()
                .map(|(octave, sub, calls)| Bucket {
                    from_ticks: least(octave, sub),
                    calls,
                })
                .collect(),
            interrupted_mean_ticks: mean(totals.interrupted_sum, totals.interrupted).map(net),
            interrupted_p50_ticks: totals
                .interrupted_histogram
                .quantile(0.5)
                .map(|ticks| net(middle_of_octave(ticks))),
            threads: totals.threads,
            perturbation: if sums.raw > 0.0 {
                (sums.raw - sums.total) / sums.raw
            } else {
                0.0
            },
            unit: unit.map(str::to_owned),
            units: unit.map(|_| totals.units),
            ticks_per_unit: unit.and(per_unit),
            units_per_second: rate
                .zip(unit.and(per_unit))
                .filter(|&(_, per_unit)| per_unit > 0.0)
                .map(|(rate, per_unit)| rate.hz / per_unit),
            polls: futures.then_some(totals.polls),
            wall_mean_ticks: mean(totals.wall as i64, totals.calls()).filter(|_| futures),
            cancelled: futures.then_some(totals.cancelled),
        }
    }
}

/// What the probes nested in one call may have cost more or less than was calibrated.
fn nested_error(totals: &Totals) -> f64 {
    let nested = totals.nested - totals.registration_costs;
    if nested <= 0 {
        return 0.0;
    }
    mean(nested, totals.probes()).unwrap_or(0.0) * overhead::greatest_total_error_share()
}

/// The samples in the last bucket, which takes all that are longer.
fn saturated(totals: &Totals) -> u64 {
    let last = bucket(u64::MAX);
    if totals
        .max
        .is_none_or(|max| bucket(not_below_zero(max)) != last)
    {
        return 0;
    }
    let buckets = totals.histogram.buckets();
    buckets
        .filter(|&(octave, sub, _)| (octave, sub) == last)
        .map(|(_, _, count)| count)
        .sum()
}

/// Interrupted calls are counted by octaves, in the first bucket of each.
fn middle_of_octave(ticks: f64) -> f64 {
    let (octave, _) = bucket(ticks as u64);
    f64::midpoint(least(octave, 0) as f64, least(octave + 1, 0) as f64)
}

/// The sums over all calls, corrected.
struct Sums {
    total: f64,
    own: f64,
    raw: f64,
    visible: f64,
    nested: f64,
    registration: f64,
}

impl Sums {
    fn new(totals: &Totals, visible: f64) -> Self {
        let measured = totals.probes();
        let outermost = measured.saturating_sub(totals.inner);
        let gross = totals.gross().wrapping_sub(totals.inner_gross) as f64;
        let nested = totals.nested.wrapping_sub(totals.inner_nested) as f64;
        let registration = totals.registration_costs as f64;
        let visible_sum = outermost as f64 * visible;
        let own = totals.gross().wrapping_sub(totals.callees) as f64 - measured as f64 * visible;
        Self {
            total: (gross - visible_sum).max(0.0),
            own: own.max(0.0),
            raw: gross + nested,
            visible: visible_sum,
            nested: nested - registration,
            registration,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(samples: &[i64]) -> Totals {
        let mut totals = Totals::default();
        samples.iter().for_each(|&sample| totals.add_sample(sample));
        totals
    }

    #[test]
    fn recursion_counts_the_outermost_call_only() {
        let mut of = totals(&[300, 200, 100]);
        (of.inner, of.inner_gross, of.callees) = (2, 300, 300);
        let sums = Sums::new(&of, 0.0);
        assert_eq!((sums.total, sums.own, sums.raw), (300.0, 300.0, 300.0));
    }

    #[test]
    fn corrections_add_up() {
        let mut of = totals(&[1000, 1100]);
        (of.nested, of.callees, of.registration_costs) = (500, 300, 400);
        let sums = Sums::new(&of, 40.0);
        assert_eq!(sums.raw, 2600.0);
        assert_eq!((sums.nested, sums.registration), (100.0, 400.0));
        assert_eq!(
            sums.total,
            sums.raw - sums.visible - sums.nested - sums.registration
        );
        assert_eq!(sums.own, 2100.0 - 300.0 - 80.0);
    }

    #[test]
    fn octaves_middle_is_no_more_than_half_off() {
        assert_eq!(middle_of_octave(0.0), 0.5);
        assert_eq!(middle_of_octave(16.0), 24.0);
        assert_eq!(middle_of_octave(32.0), 48.0);
        assert_eq!(middle_of_octave(2079.5), 3072.0);
    }

    #[test]
    fn nothing_is_negative() {
        let of = totals(&[-10, 5]);
        let sums = Sums::new(&of, 40.0);
        assert_eq!((sums.total, sums.own), (0.0, 0.0));
    }
}
