//! The dump as text. Its rows begin with the line of the GCLK macro, `:CLK: %-50.50s :%14I64d`, so that a program that parses that
//! macro's lines parses these; more columns follow to the right, as many as fit.

mod columns;
mod footer;
mod full_notes;
mod histogram;
mod machine;
mod marks;
mod names;
mod notes;
mod program;
mod rows;
mod scale;
mod slowest;
mod style;
mod tick_clock;
mod tree;

use std::fmt;

use names::Names;
use scale::Scale;

use crate::options::{TextForm, TextOptions, TextSort};
use crate::{CallsiteReport, Report, nothing};
pub use names::{escaped, gclk_column};
pub use rows::Rows;
pub use scale::{count, time};

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut options = TextOptions::default();
        if f.alternate() {
            options = options.form(TextForm::Full);
        }
        if let Some(width) = f.width() {
            options = options.width(width);
        }
        f.write_str(&self.to_text(&options))
    }
}

impl Report {
    /// The dump as text, in the form that `options` ask for.
    #[must_use]
    pub fn to_text(&self, options: &TextOptions) -> String {
        self.to_text_where(options, &|_| true)
    }

    /// The same with only those rows for which `is_wanted`. Shares are still of all rows.
    #[must_use]
    pub fn to_text_where(
        &self,
        options: &TextOptions,
        is_wanted: &dyn Fn(&CallsiteReport) -> bool,
    ) -> String {
        let lines = if !self.callsites.is_empty() {
            Page::new(self, options.of_form(), is_wanted).lines()
        } else if !self.left_out.is_empty() {
            footer::left_out(self, options)
        } else {
            vec![escaped(&nothing::line(self.nothing_because()))]
        };
        lines.join("\n") + "\n"
    }
}

/// What the parts of a dump are made of.
struct Page<'a> {
    report: &'a Report,
    options: TextOptions,
    scale: Scale,
    names: Names,
    rows: Rows<'a>,
}

impl<'a> Page<'a> {
    fn new(
        report: &'a Report,
        options: TextOptions,
        is_wanted: &dyn Fn(&CallsiteReport) -> bool,
    ) -> Self {
        Self {
            scale: Scale::new(&report.clock, options.unit),
            names: Names::new(report, options.modules),
            rows: Rows::new(report, &options, is_wanted),
            report,
            options,
        }
    }

    fn lines(&self) -> Vec<String> {
        let (report, options, scale) = (self.report, &self.options, &self.scale);
        let mut lines: Vec<String> = machine::warnings(self).collect();
        lines.extend(machine::joined(&program::parts(report), options.width));
        let (heading, table) = columns::table(self);
        lines.push(heading);
        for (row, line) in self.rows.shown.iter().zip(table) {
            lines.push(line);
            lines.extend(notes::lines(self, row));
            match options.form {
                TextForm::Full => lines.extend(full_notes::lines(row)),
                TextForm::Histogram => lines.extend(histogram::lines(row, scale)),
                TextForm::Short => {}
            }
            if options.slowest {
                lines.extend(slowest::lines(report, row, options.width));
            }
        }
        lines.extend(footer::lines(self));
        lines.extend(machine::lines(self));
        lines.extend(tree::lines(self));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::histogram::tests::histogram;
    use crate::{CallsiteSums, Clock};

    /// The dump of one function whose calls took these raw ticks, with a counter that advances in steps of 26. No overhead is
    /// subtracted, so net ticks equal raw ones.
    fn dump(samples: &[i64], change: impl FnOnce(&mut CallsiteReport)) -> String {
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
        change(&mut row);
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

    fn row(dump: &str) -> &str {
        let row = dump.lines().find(|line| line.starts_with(":CLK:"));
        row.expect("the row")
    }

    #[test]
    fn calls_too_short_to_be_known_are_marked() {
        let dump = dump(&samples(10), |_| {});
        assert!(row(&dump).contains(" <30"), "{dump}");
        let line = "tsc: < too short to be timed; use #[cycles(light)]: function";
        assert!(dump.contains(line), "{dump}");
    }

    #[test]
    fn a_row_has_only_the_mark_that_is_explained_below() {
        let mostly_probes = |row: &mut CallsiteReport| {
            row.probe = crate::data::LIGHT.to_owned();
            row.sums.light_probe_milliticks = 1_000_000;
            (row.sums.clock_ticks, row.sums.ticked_own) = (1, 1_000);
        };
        for (dump, mark) in [
            (dump(&samples(10), |_| {}), '<'),
            (dump(&samples(10), mostly_probes), '!'),
        ] {
            let marks = "<!~".chars().filter(|mark| row(&dump).contains(*mark));
            assert_eq!(marks.collect::<String>(), mark.to_string(), "{dump}");
            assert!(dump.contains(&format!("tsc: {mark} ")), "{dump}");
        }
    }

    #[test]
    fn calls_of_which_too_much_was_subtracted_take_nothing() {
        let dump = dump(&samples(10), |row| row.sums.visible_milliticks = 5_000_000);
        assert!(row(&dump).contains(" :             0   0.0 "), "{dump}");
    }

    #[test]
    fn calls_that_are_known_well_are_not_marked() {
        let dump = dump(&samples(26_000), |_| {});
        assert!(row(&dump).contains(" 100.0 "), "{dump}");
        assert!(
            !["<", "!", "~"]
                .iter()
                .any(|mark| dump.contains(&format!("tsc: {mark}")))
        );
    }

    #[test]
    fn callsite_whose_calls_were_all_interrupted_has_their_mean() {
        let dump = dump(&[], |row| {
            (row.sums.excluded, row.sums.excluded_sum) = (3, 6_000);
        });
        assert!(row(&dump).contains(" 2000"), "{dump}");
    }
}
