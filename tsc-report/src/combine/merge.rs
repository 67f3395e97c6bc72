//! Adds the reports of different processes. Counts, sums and histograms add up exactly, in any order, and the statistics are computed from
//! them.

use std::collections::{HashMap, HashSet};

use super::callsite::{Identity, combine_each};
use crate::data::rules::{Combine, How};
use crate::order::sorted;
use crate::{CallsiteReport, Clock, Context, MergeError, Process, Report, SlowCall};

/// Whether rates differ by so much that they are those of different counters, whose ticks are not comparable: by over 0.1 %.
pub fn rates_differ(one: f64, other: f64) -> bool {
    (other / one - 1.0).abs() > 0.001
}

impl Report {
    /// Adds another process's report: calls, sums and histograms by callsite, call trees by context. All statistics are computed again
    /// from the sums. So the result is what one process would have reported that had made all of the calls, in whatever order reports are
    /// merged.
    ///
    /// Two callsites are the same if name, module, file, line, probe, fence and unit are equal. [`process`](Self::process) and
    /// [`clock`](Self::clock) are those of the process that started first; [`meta`](Self::meta) and [`machine`](Self::machine) keep what
    /// is equal in both reports. Calls that both reports contain, such as two snapshots of one process, count twice.
    ///
    /// ```
    /// use tsc_runtime::{Report, snapshot};
    ///
    /// let first: Report = snapshot(); // usually read from files
    /// let second: Report = snapshot();
    /// let mut both = first.clone();
    /// both.merge(&second)?;
    /// # Ok::<(), tsc_runtime::MergeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The reports' ticks are not comparable: they come from different kinds of clocks, or the counters' rates differ by over 0.1 %. The
    /// report is unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        if other.callsites.is_empty() && other.clock.source.is_empty() {
            return Ok(()); // nothing was measured
        }
        if self.callsites.is_empty() && self.clock.source.is_empty() {
            self.clone_from(other);
            return Ok(());
        }
        self.clock.check_addable(&other.clock)?;
        // One that has measured nothing has no beginning.
        let order = |of: &Process| {
            let started = &of.started;
            (started.is_empty(), started.clone(), of.host.clone(), of.pid)
        };
        let other_is_earlier = order(&other.process) < order(&self.process);
        self.combine(other, How::Merge);
        self.clock.add(&other.clock, other_is_earlier);
        if other_is_earlier {
            self.process = Process {
                cpu_ns: self.process.cpu_ns,
                ..other.process.clone()
            };
        }
        let meta = &mut self.meta;
        meta.retain(|key, value| other.meta.get(key) == Some(&*value));
        self.unite_with(other);
        self.derive();
        Ok(())
    }

    /// Makes one callsite of those that are the same, as of blocks that a macro writes several times.
    #[doc(hidden)]
    pub fn unite(&mut self) {
        // Hardly any others have the same name and line, and these are found sooner.
        let callsites = self.callsites.iter();
        let different: HashSet<_> = callsites.map(|of| (of.line, &*of.name)).collect();
        if different.len() < self.callsites.len() {
            self.unite_with(&Self::default());
        }
    }

    /// The same, also with those of another report.
    fn unite_with(&mut self, other: &Self) {
        let own = Self {
            callsites: std::mem::take(&mut self.callsites),
            contexts: std::mem::take(&mut self.contexts),
            ..Self::default()
        };
        let mut known = HashMap::new();
        self.add(&own, &mut known);
        self.add(other, &mut known);
        // A report that keeps fewer of the slowest calls does not know all of the others' order, so the least number counts.
        let kept = [self.slowest_calls, other.slowest_calls].into_iter();
        self.slowest_calls = kept.filter(|&most| most != 0).min().unwrap_or(0);
        for callsite in &mut self.callsites {
            SlowCall::choose(&mut callsite.slowest, self.slowest_calls);
        }
    }

    /// Adds another report of the same process, of another part of its run: before or after a `reset` or a `take`, or of another session.
    /// Like [`merge`](Self::merge), but it stays one process, and [`process`](Self::process) covers both parts.
    ///
    /// ```
    /// let mut both = tsc_runtime::take();
    /// both.append(&tsc_runtime::take())?;
    /// assert_eq!(both.processes(), 1);
    /// # Ok::<(), tsc_runtime::MergeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`merge`](Self::merge).
    pub fn append(&mut self, other: &Self) -> Result<(), MergeError> {
        let (processes, one, two) = (self.processes, self.process.span(), other.process.span());
        let is_latest = two.1 > one.1;
        self.merge(other)?;
        self.processes = processes;
        // A report of nothing has no time.
        self.process.set_span(match (one, two) {
            ((0, 0), span) | (span, (0, 0)) => span,
            _ => (one.0.min(two.0), one.1.max(two.1)),
        });
        if is_latest {
            self.process.ended.clone_from(&other.process.ended);
        }
        Ok(())
    }

    /// Adds a report's callsites and the contexts that refer to them. `known` contains the index of each callsite that was added before.
    fn add<'a>(&mut self, other: &'a Self, known: &mut HashMap<Identity<'a>, u64>) {
        let identities = other.callsites.iter().map(CallsiteReport::identity);
        let index_of = |identity| {
            let next = known.len() as u64;
            *known.entry(identity).or_insert(next)
        };
        let indices: Vec<u64> = identities.map(index_of).collect();
        for (callsite, &index) in other.callsites.iter().zip(&indices) {
            let mut callsite = callsite.clone();
            for call in &mut callsite.slowest {
                translate(&mut call.path, &indices);
            }
            match self.callsites.get_mut(index as usize) {
                Some(known) => {
                    known.combine_figures(&callsite, How::Merge);
                    known.slowest.append(&mut callsite.slowest);
                }
                None => self.callsites.push(callsite),
            }
        }
        let places: Vec<_> = indices.into_iter().map(Some).collect();
        self.combine_contexts(&other.contexts, &places, How::Merge);
    }

    /// Combines the contexts with those of another report, whose callsites are at these places here, or not here. Two contexts are the same
    /// if their callsites and their parents are.
    pub(super) fn combine_contexts(
        &mut self,
        others: &[Context],
        callsites: &[Option<u64>],
        how: How,
    ) {
        fn translated(index: Option<u64>, places: &[Option<u64>]) -> Option<Option<u64>> {
            index.map_or(Some(None), |index| places[index as usize].map(Some))
        }
        let keys = self.contexts.iter().map(|of| (of.parent, of.callsite));
        let mut known: HashMap<_, u64> = keys.zip(0..).collect();
        let mut places: Vec<Option<u64>> = Vec::with_capacity(others.len());
        for other in others {
            let parent = translated(other.parent, &places);
            let key = parent.zip(translated(other.callsite, callsites));
            let mut place = key.and_then(|key| known.get(&key).copied());
            if let Some(place) = place {
                self.contexts[place as usize].combine(other, how);
            } else if let Some(key) = key.filter(|_| how == How::Merge) {
                let next = self.contexts.len() as u64;
                known.insert(key, next);
                place = Some(next);
                let mut context = other.clone();
                (context.parent, context.callsite) = key;
                self.contexts.push(context);
            }
            places.push(place);
        }
    }

    /// Keeps these callsites, in this order. What refers to others must be gone.
    pub(crate) fn choose_callsites(&mut self, chosen: &[usize]) {
        let mut places = vec![0; self.callsites.len()];
        for (place, &index) in (0..).zip(chosen) {
            places[index] = place;
        }
        let kept = |&index: &usize| std::mem::take(&mut self.callsites[index]);
        self.callsites = chosen.iter().map(kept).collect();
        for call in self.callsites.iter_mut().flat_map(|of| &mut of.slowest) {
            translate(&mut call.path, &places);
        }
        for context in &mut self.contexts {
            translate(context.callsite.as_mut_slice(), &places);
        }
        self.contexts = Context::sorted(&self.contexts);
    }
}

/// Replaces indices into a list by the places of what they refer to.
fn translate(indices: &mut [u64], places: &[u64]) {
    for index in indices {
        *index = places[*index as usize];
    }
}

impl Clock {
    fn check_addable(&self, other: &Self) -> Result<(), MergeError> {
        if self.source != other.source {
            let (one, other) = (self.source.clone(), other.source.clone());
            return Err(MergeError::Source { one, other });
        }
        match (self.hz, other.hz) {
            (Some(one), Some(other)) if rates_differ(one, other) => {
                Err(MergeError::Rate { one, other })
            }
            _ => Ok(()),
        }
    }

    /// Keeps the clock of the process that started first, with the doubts about both.
    fn add(&mut self, other: &Self, other_is_earlier: bool) {
        let mut added = other.clone();
        if other_is_earlier {
            std::mem::swap(self, &mut added);
        }
        self.merge(&added);
        // The correction of a report's own calls is in its callsites, so only the greater error is kept.
        let (overheads, added) = (&mut self.overheads, &added.overheads);
        combine_each(overheads, added, |of| &of.fence, How::Merge);
        *overheads = sorted(overheads, &|one, other| one.fence.cmp(&other.fence));
        self.doubts = self.doubtful.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::WholeTicks;
    use crate::data::histogram::tests::histogram;
    use crate::{CallsiteSums, FirstCall, ThreadReport};

    /// The report of a process that started in that second and called a function of that name, with these gross ticks.
    fn process(second: u32, name: &str, samples: &[i64]) -> Report {
        let clock = Clock {
            source: "TSC".to_owned(),
            hz: Some(2.6e9),
            ppm: Some(f64::from(second)),
            ..Clock::default()
        };
        let mut callsite = CallsiteReport {
            name: name.to_owned(),
            fence: "lfence".to_owned(),
            histogram: histogram(samples.iter().map(|sample| sample.cast_unsigned())),
            sums: CallsiteSums {
                threads: 1,
                first: Some(FirstCall {
                    process_started_ns: u64::from(second),
                    ticks: i64::from(second),
                }),
                visible_milliticks: 60_500 * samples.len() as i64,
                ..CallsiteSums::of(samples)
            },
            ..CallsiteReport::default()
        };
        callsite.derive(&clock);
        let contexts = vec![
            Context {
                callsite: Some(0),
                calls: Some(1),
                ..Context::default()
            },
            Context {
                callsite: Some(0),
                calls: Some(u64::from(second)),
                parent: Some(0),
                ..Context::default()
            },
        ];
        Report {
            process: Process {
                started: format!("{second:04}"),
                pid: second,
                ..Process::default()
            },
            clock,
            callsites: vec![callsite],
            contexts,
            ..Report::default()
        }
    }

    fn merged<'a>(reports: impl IntoIterator<Item = &'a Report>) -> Report {
        let mut all = Report::default();
        for report in reports {
            all.merge(report).expect("they are of one clock");
        }
        all
    }

    #[test]
    fn merge_is_what_one_process_with_all_calls_reports() {
        let parts = [&[500, 520, 9000][..], &[510; 40], &[77_000, 500]];
        let both = merged(&[
            process(1, "f", parts[0]),
            process(2, "f", parts[1]),
            process(3, "f", parts[2]),
        ]);
        let mut one = process(1, "f", &parts.concat());
        (one.processes, one.clock.ppm) = (3, Some(3.0));
        one.callsites[0].sums.threads = 3;
        one.callsites[0].threads = 3;
        one.contexts[0].calls = Some(3);
        one.contexts[1].calls = Some(6);
        assert_eq!(both, one);
    }

    #[test]
    fn a_process_that_has_measured_nothing_is_not_the_earliest() {
        let first = process(1, "f", &[500]);
        let mut idle = process(2, "f", &[]);
        (idle.callsites, idle.contexts) = (Vec::new(), Vec::new());
        idle.process.started = String::new();
        for both in [merged([&first, &idle]), merged([&idle, &first])] {
            assert_eq!(both.process.pid, 1);
        }
    }

    #[test]
    fn callsites_that_are_the_same_become_one() {
        let one = process(1, "f", &[500, 700]);
        let mut twice = one.clone();
        twice
            .callsites
            .push(process(1, "f", &[900]).callsites.remove(0));
        twice.callsites[1].slowest = vec![SlowCall {
            path: vec![1, 0],
            ..SlowCall::default()
        }];
        twice.contexts[1].callsite = Some(1);
        twice.contexts.push(Context {
            callsite: Some(1),
            calls: Some(4),
            ..Context::default()
        });
        twice.slowest_calls = 5;
        twice.unite();
        let [callsite] = &twice.callsites[..] else {
            panic!("one callsite")
        };
        assert_eq!((callsite.sums.samples, callsite.sums.sum), (3, 2100));
        assert_eq!(callsite.slowest[0].path, [0, 0]);
        let contexts = twice.contexts.iter();
        let contexts: Vec<_> = contexts
            .map(|of| (of.callsite, of.parent, of.calls))
            .collect();
        assert_eq!(
            contexts,
            [(Some(0), None, Some(5)), (Some(0), Some(0), Some(1))]
        );
        let mut same = one.clone();
        same.unite();
        assert_eq!(same, one);
    }

    #[test]
    fn order_of_merging_does_not_matter() {
        let of = [
            process(3, "f", &[700, 900]),
            process(1, "g", &[100]),
            process(2, "f", &[5; 9]),
        ];
        let expected = merged(&of);
        assert_eq!(expected.callsites.len(), 2);
        assert_eq!((expected.processes, expected.process.pid), (3, 1));
        for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let got = merged(order.map(|index| &of[index]));
            assert_eq!(got.callsites, expected.callsites);
            assert_eq!(got.contexts, expected.contexts);
            assert_eq!(
                (&got.clock, &got.process),
                (&expected.clock, &expected.process)
            );
        }
        let mut last_two = of[1].clone();
        last_two.merge(&of[2]).unwrap();
        let mut grouped = of[0].clone();
        grouped.merge(&last_two).unwrap();
        assert_eq!(grouped.callsites, expected.callsites);
        assert_eq!(grouped.contexts, expected.contexts);
    }

    #[test]
    fn report_of_nothing_adds_no_time() {
        let mut part = process(1, "f", &[700]);
        part.process.set_span((20, 50));
        let mut all = Report::default();
        all.append(&part).unwrap();
        all.append(&Report::default()).unwrap();
        assert_eq!(all.process.span(), (20, 50));
        part.process.set_span((60, 70));
        all.append(&part).unwrap();
        assert_eq!(all.process.span(), (20, 70));
    }

    #[test]
    fn thread_with_the_most_self_ticks_comes_first() {
        let part = |second, name: &str, ticks| {
            let mut report = process(second, "f", &[700]);
            report.callsites[0].thread_rows = vec![ThreadReport {
                name: Some(name.to_owned()),
                self_ticks: WholeTicks(ticks),
                ..ThreadReport::default()
            }];
            report
        };
        let all = merged(&[part(1, "a", 1), part(2, "b", 5), part(3, "c", 3)]);
        let names = all.callsites[0].thread_rows.iter().map(|row| row.name());
        assert_eq!(names.collect::<Vec<_>>(), ["b", "c", "a"].map(Some));
    }

    #[test]
    fn ticks_of_contexts_and_threads_add_up_to_the_last_digit() {
        // These numbers have more digits than a floating-point number can hold.
        const LONG: i64 = (1 << 60) + 1;
        let part = |second, ticks| {
            let mut report = process(second, "f", &[700]);
            let ticks = WholeTicks(ticks);
            let context = &mut report.contexts[0];
            (context.total_ticks, context.self_ticks) = (ticks, ticks);
            context.on_cpu_ticks = Some(ticks);
            report.callsites[0].thread_rows = vec![ThreadReport {
                total_ticks: ticks,
                self_ticks: ticks,
                on_cpu_ticks: Some(ticks),
                ..ThreadReport::default()
            }];
            report
        };
        let all = merged(&[part(1, LONG), part(2, -3), part(3, LONG), part(4, 7)]);
        let expected = WholeTicks(2 * LONG + 4);
        let (context, thread) = (&all.contexts[0], &all.callsites[0].thread_rows[0]);
        assert_eq!(
            (
                context.total_ticks,
                context.self_ticks,
                context.on_cpu_ticks
            ),
            (expected, expected, Some(expected))
        );
        assert_eq!(
            (thread.total_ticks, thread.self_ticks, thread.on_cpu_ticks),
            (expected, expected, Some(expected))
        );
        let json = "2305843009213693958";
        #[cfg(feature = "json")]
        assert!(all.to_json().contains(&format!("\"total_ticks\":{json},")));
        assert_eq!(json, expected.0.to_string());
    }

    #[test]
    fn contexts_follow_their_callsites() {
        // `g` has more self ticks, so it comes before `f`, and so do its contexts.
        let both = merged(&[process(1, "f", &[700]), process(2, "g", &[90_000])]);
        let named = |context: &Context| both.name_of_context(context);
        let of: Vec<_> = both
            .contexts
            .iter()
            .map(|context| (named(context), context.parent, context.calls.unwrap_or(0)))
            .collect();
        assert_eq!(
            of,
            [
                ("g", None, 1),
                ("g", Some(0), 2),
                ("f", None, 1),
                ("f", Some(2), 1)
            ]
        );
    }

    #[test]
    fn ticks_of_other_clocks_are_refused() {
        let mut one = process(1, "f", &[700]);
        let before = one.clone();
        let mut other = process(2, "f", &[700]);
        other.clock.hz = Some(2.7e9);
        let error = one.merge(&other).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("2600.000 MHz and ticks at 2700.000 MHz"),
            "{error}"
        );
        other.clock.source = "Instant".to_owned();
        assert!(matches!(one.merge(&other), Err(MergeError::Source { .. })));
        assert_eq!(one, before);
    }

    #[test]
    fn unlike_facts_are_not_kept() {
        let mut one = process(1, "f", &[700]);
        one.machine.cpu = Some("this".to_owned());
        one.machine.kernel = Some("6".to_owned());
        one.meta = [("a", "1"), ("b", "2")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into();
        let mut other = one.clone();
        other.machine.cpu = Some("that".to_owned());
        other.meta.insert("b".to_owned(), "3".to_owned());
        one.merge(&other).unwrap();
        assert_eq!(
            (one.machine.cpu, one.machine.kernel),
            (None, Some("6".to_owned()))
        );
        assert_eq!(one.meta.keys().collect::<Vec<_>>(), ["a"]);
    }
}
