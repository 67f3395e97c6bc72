//! The difference between two reports of one process.

use std::collections::HashMap;

use crate::data::rules::{Combine, How};
use crate::{CallsiteReport, Context, Report};

impl Report {
    /// What happened since `earlier`, a report of the same process: its calls, sums and histograms are subtracted, and all statistics are
    /// computed from the difference. Callsites that were not called in between are left out.
    ///
    /// Both reports correct the calls before `earlier` in the same way, so the difference contains only the calls after it. Of minimum and
    /// maximum only the bucket is known, to 1/32, unless they were never as low or as high before. Calls that were running at `earlier`
    /// and have returned since are contained with all of their time.
    ///
    /// ```
    /// let earlier = tsc_runtime::snapshot();
    /// // … the work in question …
    /// if let Some(difference) = tsc_runtime::snapshot().since(&earlier) {
    ///     println!("{difference}");
    /// }
    /// ```
    ///
    /// Returns `None` if `earlier` is of another process or a later report, or if there was a `reset` or a `take` in between.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Option<Self> {
        let (one, other) = (&self.process, &earlier.process);
        let is_same = (one.pid, &one.host) == (other.pid, &other.host)
            && (one.started == other.started || other.started.is_empty());
        // A `reset` or a `take` makes reports begin anew. One that was made while it went on may still have the old beginning.
        let is_earlier = one.since_ns == other.since_ns && other.duration_ns <= one.duration_ns;
        if !(is_same && is_earlier) || self.unrecorded_calls < earlier.unrecorded_calls {
            return None;
        }
        let identities = earlier.callsites.iter().map(CallsiteReport::identity);
        let mut known: HashMap<_, usize> = identities.zip(0..).collect();
        // Where the callsites of the earlier report are.
        let mut places = vec![None; earlier.callsites.len()];
        let mut report = self.clone();
        for (at, callsite) in report.callsites.iter_mut().enumerate() {
            if let Some(index) = known.remove(&self.callsites[at].identity()) {
                places[index] = Some(at as u64);
                let earlier = &earlier.callsites[index];
                let (now, then) = (&callsite.sums, &earlier.sums);
                if now.probes() < then.probes() || now.counted < then.counted {
                    return None;
                }
                callsite.combine_figures(earlier, How::Since);
                callsite.subtract_slowest(&earlier.slowest);
            }
        }
        // Every earlier callsite still exists, unless the figures were reset.
        let mut gone = known.values().map(|&index| &earlier.callsites[index]);
        if gone.any(|callsite| callsite.calls != 0) {
            return None;
        }
        report.combine(earlier, How::Since);
        report.combine_contexts(&earlier.contexts, &places, How::Since);
        report.derive();
        report.leave_out_what_was_not_called();
        report.process.set_span((other.span().1, one.span().1));
        Some(report)
    }

    /// Leaves out callsites and contexts that were not called and that nothing refers to.
    fn leave_out_what_was_not_called(&mut self) {
        let mut is_needed: Vec<bool> = self.contexts.iter().map(Context::has_figures).collect();
        // Parents precede their children.
        for (index, context) in self.contexts.iter().enumerate().rev() {
            if let Some(parent) = context.parent.filter(|_| is_needed[index]) {
                is_needed[parent as usize] = true;
            }
        }
        let contexts = std::mem::take(&mut self.contexts);
        let mut places = Vec::with_capacity(contexts.len());
        for (context, is_needed) in contexts.into_iter().zip(is_needed) {
            places.push(self.contexts.len() as u64);
            if is_needed {
                let parent = context.parent.map(|parent| places[parent as usize]);
                self.contexts.push(Context { parent, ..context });
            }
        }
        let callsites = &self.callsites;
        let calls = callsites.iter().flat_map(|callsite| &callsite.slowest);
        let in_paths = calls.flat_map(|call| call.path.iter().copied());
        let in_contexts = self.contexts.iter().filter_map(|context| context.callsite);
        let mut is_kept: Vec<bool> = callsites.iter().map(CallsiteReport::was_called).collect();
        for index in in_paths.chain(in_contexts) {
            is_kept[index as usize] = true;
        }
        let kept: Vec<usize> = (0..callsites.len()).filter(|&at| is_kept[at]).collect();
        self.choose_callsites(&kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CallsiteSums;
    use crate::data::WholeTicks;
    use crate::data::histogram::tests::histogram;

    /// The report of a process after calls of functions with these names and gross ticks.
    fn report(functions: &[(&str, &[i64])]) -> Report {
        let mut report = Report::default();
        report.process.started = "2026".to_owned();
        for (index, (name, samples)) in functions.iter().enumerate() {
            let mut callsite = CallsiteReport {
                name: (*name).to_owned(),
                histogram: histogram(samples.iter().map(|sample| sample.cast_unsigned())),
                sums: CallsiteSums {
                    visible_milliticks: samples.len() as i64 * 60_000,
                    ..CallsiteSums::of(samples)
                },
                ..CallsiteReport::default()
            };
            callsite.derive(&report.clock);
            report.contexts.push(Context {
                callsite: Some(index as u64),
                parent: (index as u64).checked_sub(1),
                calls: Some(samples.len() as u64),
                total_ticks: WholeTicks::rounded(callsite.total_ticks),
                ..Context::default()
            });
            report.callsites.push(callsite);
        }
        report
    }

    #[test]
    fn difference_is_the_report_of_what_came_after() {
        let before = report(&[("f", &[500, 700]), ("g", &[900])]);
        let after = report(&[("f", &[500, 700, 300, 62, 1000]), ("g", &[900])]);
        let since = after.since(&before).expect("they are of one process");
        let mut expected = report(&[("f", &[300, 62, 1000])]);
        expected.contexts[0].total_ticks = since.contexts[0].total_ticks;
        assert_eq!(since.callsites, expected.callsites);
        assert_eq!(since.contexts, expected.contexts);
        assert_eq!(since.contexts[0].total_ticks, WholeTicks(1362 - 180));
    }

    #[test]
    fn calibration_in_between_holds_for_the_earlier_calls() {
        let light = |counted: u64, cost: i64| {
            let mut report = report(&[("f", &[])]);
            let sums = &mut report.callsites[0].sums;
            sums.counted = counted;
            sums.light_probe_milliticks = cost * counted.cast_signed();
            report.callsites[0].calls = counted;
            report
        };
        let since = light(1_001_000, 6_200).since(&light(1_000_000, 6_800));
        let sums = &since.expect("they are of one process").callsites[0].sums;
        assert_eq!(
            (sums.counted, sums.light_probe_milliticks),
            (1_000, 6_200_000)
        );
    }

    #[test]
    fn extremes_that_were_there_before_are_known_to_a_bucket() {
        let before = report(&[("f", &[100, 9000])]);
        let after = report(&[("f", &[100, 9000, 105, 8000])]);
        let since = after.since(&before).expect("they are of one process");
        let sums = &since.callsites[0].sums;
        let (min, max) = (sums.min.unwrap(), sums.max.unwrap());
        assert!(
            (100..=105).contains(&min) && (8000..=8000 + 8000 / 32).contains(&max),
            "{min} {max}"
        );
    }

    #[test]
    fn samples_below_zero_are_in_the_first_bucket() {
        let report = |samples: [i64; 2], calls: usize| {
            let mut report = report(&[("f", &[0, 0][..calls])]);
            let sums = &mut report.callsites[0].sums;
            sums.sum = samples[..calls].iter().sum();
            sums.min = samples[..calls].iter().min().copied();
            sums.max = samples[..calls].iter().max().copied();
            report
        };
        let samples = [-500, -100];
        let since = report(samples, 2).since(&report(samples, 1));
        let row = &since.expect("they are of one process").callsites[0];
        assert_eq!((row.sums.min, row.sums.max), (Some(-100), Some(-100)));
        assert!(row.p50_ticks <= row.max_ticks && row.p50_ticks >= row.min_ticks);
    }

    #[test]
    fn parents_of_called_contexts_stay() {
        let before = report(&[("f", &[500]), ("g", &[900])]);
        let after = report(&[("f", &[500]), ("g", &[900, 800])]);
        let since = after.since(&before).expect("they are of one process");
        let named: Vec<_> = since
            .contexts
            .iter()
            .map(|context| {
                (
                    since.name_of_context(context),
                    context.parent,
                    context.calls.unwrap_or(0),
                )
            })
            .collect();
        assert_eq!(named, [("f", None, 0), ("g", Some(0), 1)]);
        assert_eq!(after.since(&after).expect("the same").callsites, []);
    }

    #[test]
    fn other_processes_and_forgotten_calls_have_no_difference() {
        let before = report(&[("f", &[500]), ("g", &[900])]);
        assert_eq!(report(&[("f", &[])]).since(&before), None);
        assert_eq!(report(&[("f", &[500])]).since(&before), None);
        let mut other = before.clone();
        other.process.pid = 7;
        assert_eq!(other.since(&before), None);
        let mut anew = report(&[("f", &[500, 600]), ("g", &[900, 800])]);
        assert!(anew.since(&before).is_some());
        anew.process.since_ns = Some(7);
        assert_eq!(anew.since(&before), None);
    }
}
