//! The figures of functions whose time is known by ticks of the clock.

use crate::data::{WholeTicks, share};
use crate::{CallsiteReport, Clock, ThreadReport};

/// A light probe costs this many times more in programs than around empty functions: it takes registers, and room in caches and predictors,
/// and its function is not inlined. In six programs it cost 3.0 to 5.5 ticks where the calibration had 2.9 (EPYC, Zen 5), in others 6 to 8 where
/// it had 3.8 (Zen 4); `fine_grained` of the studies prints it in ns.
pub(super) const IN_PROGRAMS: f64 = 1.75;

/// Times are divided by this before their squares are added to `ticked_squares`.
pub const SQUARES_UNIT: f64 = 1024.0;

impl CallsiteReport {
    /// Whether the totals are times by ticks of the clock. A timed function has those of its calls if no tick has found it, or if ticks could
    /// not find most calls, because there was no light one before.
    pub(crate) fn is_by_ticks(&self) -> bool {
        let sums = &self.sums;
        self.is_light() || sums.is_found() && sums.linked.saturating_mul(2) >= sums.probes()
    }

    /// Replaces the totals, if they are to be by ticks of the clock, by these, which contain the cost of probes.
    pub(super) fn derive_by_ticks(&mut self, clock: &Clock, is_by_ticks: bool) {
        // A difference of two reports has those of the later one.
        (self.clock_ticks, self.probe_ticks) = (None, None);
        self.self_std_error_ticks = None;
        if !is_by_ticks {
            return;
        }
        let sums = &self.sums;
        let (on_cpu, off) = (sums.ticked as f64, sums.ticked_off as f64);
        let (own, own_off) = (sums.ticked_own as f64, sums.ticked_own_off as f64);
        let waiting = sums.ticked_waiting as f64;
        self.clock_ticks = Some(sums.clock_ticks);
        self.total_ticks = on_cpu + off - waiting;
        self.wall_ticks = on_cpu + off;
        self.self_ticks = own + own_off - sums.ticked_own_waiting as f64;
        self.on_cpu_ticks = Some(on_cpu);
        self.self_on_cpu_ticks = Some(own);
        let is_split = sums.unsplit == 0;
        self.blocked_ticks = is_split.then_some(off - waiting);
        self.waiting_ticks = is_split.then_some(waiting);
        (self.total_error_ticks, self.self_error_ticks) = (None, None);
        if self.is_light() {
            self.derive_light();
        } else {
            let overhead = clock.overhead(&self.fence);
            self.probe_ticks = overhead.map(|of| self.sums.linked as f64 * of.total_ticks);
        }
    }

    /// What the probes of a function cost that are timed, if that is known.
    pub(crate) fn cost_of_timed_probes(&self, clock: &Clock) -> Option<f64> {
        let overhead = clock.overhead(&self.fence)?;
        Some(self.sums.probes() as f64 * overhead.total_ticks)
    }

    /// What the probes of a light function cost: the calls times the calibrated cost of one, times [`IN_PROGRAMS`].
    pub(super) fn cost_of_light_probes(&self) -> f64 {
        IN_PROGRAMS * self.sums.light_probe_milliticks as f64 / 1000.0
    }

    /// What was subtracted for probes from self ticks by ticks of the clock.
    #[doc(hidden)]
    #[must_use]
    pub fn subtracted_ticks(&self) -> f64 {
        match self.self_on_cpu_ticks {
            Some(own) if self.is_by_ticks() => self.sums.ticked_own as f64 - own,
            _ => 0.0,
        }
    }

    /// Subtracts the cost of probes from the self ticks and from the total.
    pub(super) fn subtract_probes(&mut self, own: f64, total: f64) {
        if !self.is_by_ticks() {
            return;
        }
        self.self_ticks -= own;
        self.total_ticks -= total;
        self.wall_ticks -= total;
        self.self_on_cpu_ticks = self.self_on_cpu_ticks.map(|ticks| ticks - own);
        self.on_cpu_ticks = self.on_cpu_ticks.map(|ticks| ticks - total);
        if self.is_light() {
            (self.overhead_ticks, self.visible_overhead_ticks) = (total, own);
            self.nested_overhead_ticks = total - own;
            self.mean_ticks = (self.calls != 0).then(|| self.total_ticks / self.calls as f64);
        }
        let rows = &mut self.thread_rows;
        scale(rows, |of| Some(&mut of.self_ticks), self.self_ticks);
        scale(rows, |of| Some(&mut of.total_ticks), self.total_ticks);
        let on_cpu = self.on_cpu_ticks.unwrap_or_default();
        scale(rows, |of| of.on_cpu_ticks.as_mut(), on_cpu);
        let own = self.self_on_cpu_ticks.unwrap_or_default();
        scale(rows, |of| of.self_on_cpu_ticks.as_mut(), own);
    }

    /// What is known and what is unknown of a light function.
    fn derive_light(&mut self) {
        let probes = self.cost_of_light_probes();
        self.probe_ticks = Some(probes);
        self.raw_ticks = self.wall_ticks;
        self.perturbation = share(probes, self.self_on_cpu()).min(1.0);
        (self.clean, self.interrupted) = (None, None);
        (self.repaired, self.excluded) = (None, None);
        (self.mean_raw_ticks, self.wall_mean_ticks) = (None, None);
    }
}

/// Scales a figure of the threads so that its sum is that of the whole function.
fn scale(
    rows: &mut [ThreadReport],
    figure: fn(&mut ThreadReport) -> Option<&mut WholeTicks>,
    sum: f64,
) {
    let figures: Vec<&mut WholeTicks> = rows.iter_mut().filter_map(figure).collect();
    let now: f64 = figures.iter().map(|ticks| ticks.to_f64()).sum();
    if now > 0.0 {
        for ticks in figures {
            *ticks = WholeTicks::rounded(ticks.to_f64() * sum / now);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::data::LIGHT;
    use crate::{CallsiteSums, FenceOverhead, Report};

    pub(crate) fn light(calls: u64, own: i64, ticks: u64, squares: u64) -> CallsiteReport {
        let mut callsite = CallsiteReport {
            probe: LIGHT.to_owned(),
            sums: CallsiteSums {
                counted: calls,
                clock_ticks: ticks,
                ticked_own: own,
                ticked: 2 * own,
                ticked_off: 50,
                ticked_waiting: 20,
                ticked_squares: squares,
                light_probe_milliticks: 5000 * calls.cast_signed(),
                ..CallsiteSums::default()
            },
            ..CallsiteReport::default()
        };
        callsite.derive(&Clock::default());
        callsite.subtract_probes(0.0, 0.0);
        callsite
    }

    #[test]
    fn totals_are_those_of_the_ticks() {
        let of = light(100, 10_000, 10, 4);
        assert_eq!(
            (of.calls, of.total_ticks, of.self_ticks),
            (100, 20_030.0, 10_000.0)
        );
        assert_eq!(
            (of.blocked_ticks, of.waiting_ticks),
            (Some(30.0), Some(20.0))
        );
        assert_eq!(
            (of.mean_ticks, of.p50_ticks, of.min_ticks),
            (Some(200.3), None, None)
        );
        let cost = 500.0 * IN_PROGRAMS;
        assert_eq!(of.probe_ticks, Some(cost));
        assert_eq!(of.perturbation, cost / 10_000.0);
        assert_eq!(
            (of.clean, of.mean_raw_ticks, of.clock_ticks),
            (None, None, Some(10))
        );
    }

    #[test]
    fn cost_of_timed_probes_is_that_of_the_calls_which_ticks_could_find() {
        let probe_ticks = |clock_ticks| {
            let sums = CallsiteSums {
                samples: 15,
                linked: 10,
                clock_ticks,
                ..CallsiteSums::default()
            };
            let mut callsite = CallsiteReport {
                fence: "lfence".to_owned(),
                sums,
                ..CallsiteReport::default()
            };
            callsite.derive(&Clock {
                overheads: vec![FenceOverhead {
                    fence: "lfence".to_owned(),
                    total_ticks: 100.0,
                    ..FenceOverhead::default()
                }],
                ..Clock::default()
            });
            callsite.probe_ticks
        };
        assert_eq!([probe_ticks(0), probe_ticks(1)], [None, Some(1000.0)]);
    }

    #[test]
    fn timed_function_that_no_tick_has_found_has_the_totals_of_its_calls() {
        let total = |linked, clock_ticks, ticked| {
            let sums = CallsiteSums {
                samples: 10,
                sum: 5000,
                linked,
                clock_ticks,
                ticked,
                ticked_off: 7,
                ..CallsiteSums::default()
            };
            let mut callsite = CallsiteReport {
                sums,
                ..CallsiteReport::default()
            };
            callsite.derive(&Clock::default());
            callsite.total_ticks
        };
        assert_eq!([total(10, 0, 0), total(10, 1, 6000)], [5000.0, 6007.0]);
        // Most calls were before the first light one.
        assert_eq!([total(4, 1, 2000), total(5, 1, 2000)], [5000.0, 2007.0]);
    }

    #[test]
    fn time_for_each_unit_of_a_timed_function_is_that_of_its_calls() {
        let sums = CallsiteSums {
            samples: 10,
            sum: 5000,
            units: 100,
            // Four calls came before the first light one.
            linked: 6,
            clock_ticks: 1,
            ticked: 3000,
            ..CallsiteSums::default()
        };
        let mut report = Report {
            callsites: vec![CallsiteReport {
                unit: Some("item".to_owned()),
                sums,
                ..CallsiteReport::default()
            }],
            ..Report::default()
        };
        report.derive();
        let row = &report.callsites[0];
        assert_eq!(
            (row.total_ticks, row.mean_ticks, row.ticks_per_unit),
            (3000.0, Some(500.0), Some(50.0))
        );
    }

    #[test]
    fn parts_are_by_ticks_if_the_whole_is() {
        let of = |samples: u64, linked, ticked| CallsiteReport {
            sums: CallsiteSums {
                samples,
                sum: 10 * samples.cast_signed(),
                linked,
                ticked,
                ..CallsiteSums::default()
            },
            ..CallsiteReport::default()
        };
        let clock = Clock::default();
        let total = |mut part: CallsiteReport, whole: &CallsiteReport| {
            part.derive_part(whole, &clock);
            (part.calls, part.total_ticks, part.on_cpu_ticks)
        };
        // One thread has called the function before the first light call of the other one.
        let (early, late) = (of(200, 0, 0), of(300, 300, 3_300));
        let whole = of(500, 300, 3_300);
        assert_eq!(total(early, &whole), (200, 0.0, Some(0.0)));
        assert_eq!(total(late.clone(), &whole), (300, 3_300.0, Some(3_300.0)));
        let whole = of(1_300, 300, 3_300);
        assert_eq!(total(late, &whole), (300, 3_000.0, Some(3_000.0)));
    }

    #[test]
    fn threads_have_their_parts_of_what_is_subtracted() {
        let mut of = light(100, 10_000, 10, 4);
        let thread = |part: f64| ThreadReport {
            total_ticks: WholeTicks::rounded(part * of.total_ticks),
            self_ticks: WholeTicks::rounded(part * of.self_ticks),
            on_cpu_ticks: of
                .on_cpu_ticks
                .map(|ticks| WholeTicks::rounded(part * ticks)),
            ..ThreadReport::default()
        };
        of.thread_rows = vec![thread(0.25), thread(0.75)];
        of.subtract_probes(2_000.0, 4_000.0);
        let sum = |figure: fn(&ThreadReport) -> f64| of.thread_rows.iter().map(figure).sum::<f64>();
        let [own, total, on_cpu] = [
            sum(|of| of.self_ticks.to_f64()),
            sum(|of| of.total_ticks.to_f64()),
            sum(|of| of.on_cpu_ticks.unwrap().to_f64()),
        ];
        assert_eq!(own, 8_000.0);
        assert!((total - 16_030.0).abs() <= 1.0, "{total}");
        assert_eq!(on_cpu, 16_000.0);
        assert_eq!(of.thread_rows[0].self_ticks, WholeTicks(2_000));
    }
}
