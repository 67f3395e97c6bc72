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

use columns::Table;
use names::Names;
use rows::Rows;
use scale::Scale;
use style::Style;

use crate::options::{TextForm, TextOptions, TextSort};
use crate::{CallsiteReport, Report, nothing};
pub(super) use names::escaped;
pub use names::gclk_column;
use tree::tree;

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
        let mut text = String::new();
        // Writing to a `String` cannot fail.
        let _: fmt::Result = self.write_text(&mut text, options, is_wanted);
        text
    }

    fn write_text(
        &self,
        out: &mut dyn fmt::Write,
        options: &TextOptions,
        is_wanted: &dyn Fn(&CallsiteReport) -> bool,
    ) -> fmt::Result {
        if self.callsites.is_empty() {
            if !self.left_out.is_empty() {
                return footer::write_left_out(out, self, options.width_of_lines());
            }
            let reason = self.nothing_because.as_deref().map(escaped);
            return nothing::write(out, reason.as_deref());
        }
        let options = &options.of_form();
        let style = Style::new(options.color);
        let names = Names::new(self, options.modules);
        let scale = Scale::new(&self.clock, options.unit);
        let rows = Rows::new(self, options, is_wanted);
        machine::write_warnings(out, &self.clock, options.width, &style)?;
        let program = machine::fitting(&program::parts(self), options.width);
        writeln!(out, "{program}")?;
        let table = Table::new(&rows, &names, &scale, &self.clock, options);
        table.write_heading(out, &self.clock, &style)?;
        for (index, row) in rows.shown().enumerate() {
            table.write_row(out, index, &style)?;
            notes::write(out, self, row, (&names, &scale), options)?;
            match options.form {
                TextForm::Full => full_notes::write(out, row)?,
                TextForm::Histogram => histogram::write(out, row, &scale)?,
                TextForm::Short => {}
            }
            if options.slowest {
                slowest::write(out, self, row, options.width)?;
            }
        }
        footer::write(out, self, &rows, &names, options)?;
        machine::write(out, self, &scale, options, &style)?;
        tree(out, self, &names, &scale)
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
        let mostly_probes = |row: &mut CallsiteReport| row.probe_ticks = Some(1e9);
        for (ticks, mark) in [(10, '<'), (26_000, '!')] {
            let dump = dump(&samples(ticks), mostly_probes);
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
