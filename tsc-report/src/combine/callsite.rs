//! One callsite in two reports.

use crate::data::rules::Combine;
use crate::data::rules::How::{self, Merge, Since};
use crate::data::{WholeTicks, histogram, share};
use crate::order::sorted;
use crate::{Bucket, CallsiteReport, CallsiteSums, SlowCall};

/// What identifies a callsite in all processes.
pub(super) type Identity<'a> = ([&'a str; 5], u32, Option<&'a str>);

impl CallsiteReport {
    pub(super) fn identity(&self) -> Identity<'_> {
        let texts = [
            &self.module,
            &self.name,
            &self.file,
            &self.probe,
            &self.fence,
        ];
        (texts.map(String::as_str), self.line, self.unit.as_deref())
    }

    /// Adds the figures of another process, or subtracts those of an earlier report, but for the slowest calls.
    pub(super) fn combine_figures(&mut self, other: &Self, how: How) {
        // This comes before the samples are combined: if there is no histogram of wall times, the one of the samples replaces it.
        if !self.wall_histogram.is_empty() || how == Merge && !other.wall_histogram.is_empty() {
            let mut wall = self.by_wall().clone();
            wall.combine(other.by_wall(), how);
            self.wall_histogram = wall;
        }
        self.combine(other, how);
        combine_each(&mut self.events, &other.events, |of| &of.event, how);
        let others = &other.thread_rows;
        combine_each(&mut self.thread_rows, others, |of| &of.name, how);
        if how == Merge {
            let others = other.sums_beside(self);
            self.sums = self.sums_beside(other);
            self.sums.merge(&others);
            // The most self ticks first; equal ones by name, so that the order of merging does not matter.
            let threads = &mut self.thread_rows;
            *threads = sorted(threads, &|one, other| one.name.cmp(&other.name));
            *threads = sorted(threads, &|one, other| other.self_ticks.cmp(&one.self_ticks));
        } else {
            let (samples, walls) = (&mut self.histogram, &self.wall_histogram);
            self.sums.subtract(&other.sums, samples, walls);
            self.events.retain(|event| event.calls != 0);
            self.thread_rows
                .retain(|row| row.calls != 0 || row.total_ticks != WholeTicks::default());
        }
    }

    /// The sums to add to those of `other`. No tick finds a timed function in a process without light calls. Beside ticks of another process, the
    /// times of its calls stand for them.
    fn sums_beside(&self, other: &Self) -> CallsiteSums {
        let sums = self.sums.clone();
        let is_by_calls = sums.linked == 0 && !sums.is_found() && !self.is_light();
        let times = self.on_cpu_ticks.zip(self.self_on_cpu_ticks);
        match times.filter(|_| is_by_calls && other.sums.is_found()) {
            None => sums,
            Some((on_cpu, own)) => CallsiteSums {
                linked: sums.probes(),
                ticked: on_cpu.round() as i64,
                ticked_off: sums.off,
                ticked_waiting: sums.waiting,
                ticked_own: own.round() as i64,
                ticked_own_off: sums.own_off,
                ticked_own_waiting: sums.own_waiting,
                ..sums
            },
        }
    }

    /// Removes the calls of an earlier report of the same process, of those that look the same the first one. What remains are the calls
    /// that have ended since, as far as they are among the slowest of the process.
    pub(super) fn subtract_slowest(&mut self, earlier: &[SlowCall]) {
        for known in earlier {
            let mut slowest = self.slowest.iter();
            if let Some(index) = slowest.position(|call| call.is(known)) {
                self.slowest.remove(index);
            }
        }
    }

    pub(super) fn was_called(&self) -> bool {
        let sums = &self.sums;
        let counts = [self.calls, self.running, sums.polls, sums.cancelled];
        counts != [0; 4] || sums.ticked != 0
    }
}

impl CallsiteSums {
    /// Subtracts earlier sums of the same process, after the same was done with the histograms of samples and wall times.
    ///
    /// The only sample is exact, and so is an extreme that is in the outermost bucket. Otherwise it is an earlier one, and that of the rest is
    /// only known to its bucket.
    #[doc(hidden)]
    pub fn subtract(&mut self, earlier: &Self, samples: &mut Vec<Bucket>, walls: &[Bucket]) {
        let (min, max, wall_max) = (self.min, self.max, self.wall_max);
        // A calibration in between holds for the earlier calls, too.
        let light_calls = |of: &Self| of.counted.max(of.polls) as f64;
        let each = share(self.light_probe_milliticks as f64, light_calls(self));
        self.since(earlier);
        // If the earlier ones were read during a write, they have counted samples that were not yet in their histogram.
        histogram::limit(samples, self.samples);
        self.light_probe_milliticks = (each * light_calls(self)).round() as i64;
        let extreme = |known: Option<i64>, outermost: Option<&Bucket>, limit: fn(u64) -> u64| {
            let from = outermost?.from_ticks;
            // The first bucket also contains samples below zero, which exist because nested probes may cost less than was subtracted.
            let is_of_it = |of: &i64| histogram::beginning(of.max(&0).cast_unsigned()) == from;
            let known = known.filter(is_of_it);
            Some(known.unwrap_or_else(|| limit(from).cast_signed()))
        };
        let greatest_of = |from| histogram::end(from) - 1;
        self.min = extreme(min, samples.first(), |from| from);
        self.max = extreme(max, samples.last(), greatest_of);
        self.wall_max = extreme(wall_max, walls.last(), greatest_of);
        if self.samples == 1 {
            (self.min, self.max) = (Some(self.sum), Some(self.sum));
        }
    }
}

/// Combines the items of the same name.
pub(super) fn combine_each<T: Combine + Clone, N: PartialEq>(
    known: &mut Vec<T>,
    others: &[T],
    name: fn(&T) -> &N,
    how: How,
) {
    for other in others {
        match known.iter_mut().find(|it| name(it) == name(other)) {
            Some(known) => known.combine(other, how),
            None if how == Since => {}
            None => known.push(other.clone()),
        }
    }
}
