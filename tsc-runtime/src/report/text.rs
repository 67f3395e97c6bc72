//! The dump: one line a callsite in the style of the GCLK macro, `\n:CLK: %-50.50s :%14I64d`, so that whatever parsed that macro's
//! lines parses these; more columns follow to the right.

use std::fmt;

use super::banner::banner;
use super::notes::{corrections, footer, row_notes};
use super::tree::tree;
use super::{CallsiteReport, Clock, Report};

/// GCLK's columns.
pub(super) const NAME: usize = 50;
const TOTAL: usize = 14;
/// The columns to their right.
const COUNT: usize = 11;
const TICKS: usize = 11;

/// The share of raw ticks that the probes may be, before the row is marked.
pub(super) const PERTURBED: f64 = 0.5;

/// A median of fewer steps of the counter than this is known to ± 1 step only; the mean of many calls is known better.
const COARSE_STEPS: f64 = 20.0;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.callsites.is_empty() {
            return writeln!(f, "tsc: no annotated function was called");
        }
        banner(f, &self.clock)?;
        heading(f, &self.clock)?;
        let self_sum: f64 = self
            .callsites
            .iter()
            .map(|callsite| callsite.self_ticks)
            .sum();
        for callsite in &self.callsites {
            row(f, callsite, &self.name_of(callsite), self_sum)?;
            marks(f, callsite, &self.clock)?;
            row_notes(f, callsite, &self.clock)?;
            if f.alternate() {
                corrections(f, callsite)?;
            }
        }
        footer(f, self)?;
        tree(f, self)
    }
}

impl Report {
    /// The name, with the module before it where another callsite has the same name.
    fn name_of(&self, callsite: &CallsiteReport) -> String {
        let twins = self
            .callsites
            .iter()
            .filter(|other| other.name == callsite.name)
            .count();
        if twins > 1 {
            format!("{}::{}", callsite.module, callsite.name)
        } else {
            callsite.name.clone()
        }
    }
}

impl Clock {
    /// The unit's name for people: `ticks`, or what they are instead.
    pub(super) fn unit(&self) -> &'static str {
        match (self.fallback_reason.is_some(), self.distrusted) {
            (true, _) => "ns",
            (false, true) => "ticks (distrusted)",
            (false, false) => "ticks",
        }
    }
}

fn heading(f: &mut fmt::Formatter<'_>, clock: &Clock) -> fmt::Result {
    writeln!(
        f,
        "      {:<NAME$} :{:>TOTAL$} {:>COUNT$} {:>COUNT$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {:>6} {:>TICKS$}",
        format!("net {}, by self", clock.unit()),
        "total",
        "calls",
        "clean",
        "mean",
        "± s.e.",
        "min",
        "p50",
        "p99",
        "max",
        "self %",
        "first"
    )
}

fn row(
    f: &mut fmt::Formatter<'_>,
    callsite: &CallsiteReport,
    name: &str,
    self_sum: f64,
) -> fmt::Result {
    let share = if self_sum > 0.0 {
        callsite.self_ticks / self_sum * 100.0
    } else {
        0.0
    };
    write!(
        f,
        ":CLK: {:<NAME$} :{:>TOTAL$.0} {:>COUNT$} {:>COUNT$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {share:>6.1} {:>TICKS$}",
        cut(name, NAME),
        callsite.total_ticks,
        callsite.calls,
        callsite
            .clean
            .map_or_else(|| "?".to_owned(), |clean| clean.to_string()),
        ticks(callsite.mean_ticks, 1),
        ticks(callsite.std_error_ticks, 1),
        ticks(callsite.min_ticks, 0),
        ticks(callsite.p50_ticks, 0),
        ticks(callsite.p99_ticks, 0),
        ticks(callsite.max_ticks, 0),
        ticks(callsite.first_ticks, 0),
    )
}

fn marks(f: &mut fmt::Formatter<'_>, callsite: &CallsiteReport, clock: &Clock) -> fmt::Result {
    if callsite.is_below_resolution() {
        write!(f, " <")?;
    } else if callsite.is_coarse(clock) {
        write!(f, " ~")?;
    }
    if callsite.perturbation > PERTURBED {
        write!(f, " !")?;
    }
    writeln!(f)
}

impl CallsiteReport {
    pub(super) fn is_coarse(&self, clock: &Clock) -> bool {
        let step = clock.resolution_ticks as f64;
        step > 1.0
            && self
                .p50_ticks
                .is_some_and(|median| median < COARSE_STEPS * step)
    }
}

/// Cuts a name to `width` columns. Its end is what tells methods of long types apart, so the beginning goes.
fn cut(name: &str, width: usize) -> String {
    let length = name.chars().count();
    if length <= width {
        return name.to_owned();
    }
    std::iter::once('…')
        .chain(name.chars().skip(length - width + 1))
        .collect()
}

pub(super) fn ticks(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

#[cfg(test)]
mod tests {
    use super::super::CallsiteSums;
    use super::super::data::histogram::tests::histogram;
    use super::*;

    #[test]
    fn long_names_keep_their_end() {
        assert_eq!(cut("short", 10), "short");
        assert_eq!(cut("a_long_type::method", 10), "…e::method");
        assert_eq!(cut("a_long_type::method", 10).chars().count(), 10);
    }

    /// The dump of one function whose calls took these raw ticks, by a counter that moves in steps of 26. Net is raw.
    fn dump(samples: &[i64], change: impl FnOnce(&mut CallsiteSums)) -> String {
        let clock = Clock {
            resolution_ticks: 26,
            ..Clock::default()
        };
        let mut row = CallsiteReport {
            name: "function".to_owned(),
            fence_supported: true,
            histogram: histogram(samples.iter().map(|sample| sample.cast_unsigned())),
            sums: CallsiteSums {
                samples: samples.len() as u64,
                sum: samples.iter().sum(),
                min: samples.iter().min().copied(),
                max: samples.iter().max().copied(),
                ..CallsiteSums::default()
            },
            ..CallsiteReport::default()
        };
        change(&mut row.sums);
        row.derive(&clock);
        let report = Report {
            clock,
            callsites: vec![row],
            ..Report::default()
        };
        report.to_string()
    }

    fn samples(ticks: i64) -> Vec<i64> {
        (0..100).map(|n| ticks + n % 2 * 26).collect()
    }

    /// The mark at the row's end, and the foot's line that explains it.
    fn assert_marked(dump: &str, mark: char, foot: &str) {
        let row = dump.lines().find(|line| line.starts_with(":CLK:")).unwrap();
        assert!(row.ends_with(&format!(" {mark}")), "{dump}");
        assert!(dump.contains(&format!("tsc: {mark} ")), "{dump}");
        assert!(dump.contains(foot), "{dump}");
    }

    #[test]
    fn calls_too_short_to_be_told_from_none_are_marked() {
        let dump = dump(&samples(10), |_| {});
        assert_marked(&dump, '<', "tsc_runtime::measure repeats it");
    }

    #[test]
    fn calls_of_few_steps_are_marked() {
        let dump = dump(&samples(20 * 26 - 30), |_| {});
        assert_marked(&dump, '~', "± 1 step of the counter, 26 ticks");
    }

    #[test]
    fn calls_that_are_mostly_probes_are_marked() {
        let dump = dump(&samples(26_000), |sums| sums.nested = sums.sum * 2);
        assert_marked(&dump, '!', "take the attribute off");
    }

    #[test]
    fn calls_that_are_known_well_are_not_marked() {
        let dump = dump(&samples(26_000), |_| {});
        let row = dump.lines().find(|line| line.starts_with(":CLK:")).unwrap();
        assert!(row.ends_with('-'), "{dump}");
        assert!(
            !["<", "~", "!"].iter().any(|mark| dump.contains(mark)),
            "{dump}"
        );
    }

    #[test]
    fn callsite_whose_calls_were_all_interrupted_has_their_mean() {
        let dump = dump(&[], |sums| {
            (sums.interrupted, sums.interrupted_sum) = (3, 6_000);
        });
        assert!(
            dump.contains("3 interrupted, 100 % of the total, their mean 2000.0"),
            "{dump}"
        );
    }
}
