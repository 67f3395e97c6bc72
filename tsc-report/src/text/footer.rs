//! The lines below the table: what each mark means and what to do about it, and what was not counted or not shown.

use super::marks::Mark;
use super::names::escaped;
use super::notes::{calls, paragraph, several, wrapped};
use super::{Page, TextForm};
use crate::{CallsiteReport, Report, TextOptions};

/// At most this many rows with a mark are named.
const NAMED: usize = 5;

pub(super) fn lines(page: &Page<'_>) -> Vec<String> {
    let (report, rows, options) = (page.report, &page.rows, &page.options);
    let mut lines = Vec::new();
    if options.form == TextForm::Histogram {
        lines.push("tsc: F marks the first call; both axes are logarithmic".to_owned());
    }
    lines.extend(Mark::ALL.into_iter().filter_map(|mark| marked(page, mark)));
    if rows.left_out != 0 {
        let all = options.name_of("TSC_TOP=0 shows all", "--top N shows more");
        let left_out = several(rows.left_out as u64, "more row");
        lines.push(format!("tsc: {left_out}; {all}"));
    }
    if report.unrecorded_calls != 0 {
        let calls = calls(report.unrecorded_calls);
        let text = format!(
            "{calls} not recorded: by the allocator or a signal handler in the middle of a recording, or without memory"
        );
        lines.extend(paragraph(&text, options.width));
    }
    lines.extend(left_out(report, options));
    lines
}

/// The rows with this mark, if there are some.
fn marked(page: &Page<'_>, mark: Mark) -> Option<String> {
    let character = mark.character();
    let explanation = mark.explanation(page.options.own_attributes);
    let is_marked = |row: &&&CallsiteReport| {
        Mark::of(row, &page.report.clock, page.rows.self_sum) == Some(mark)
    };
    let named = |row: &&CallsiteReport| {
        let name = page.names.full(row);
        match row.self_error_share() {
            Some(share) if mark == Mark::Uncertain => format!("{name} ± {:.0} %", share * 100.0),
            _ => name,
        }
    };
    let marked = page.rows.shown.iter().filter(is_marked);
    let first: Vec<String> = marked.clone().take(NAMED).map(named).collect();
    let start = format!("tsc: {character} {explanation}: ");
    let all = marked.count();
    (all != 0).then(|| listed(&start, &first, all, page.options.width))
}

/// The line with as many of the names as fit, and the number of the others of `all`.
fn listed(start: &str, names: &[String], all: usize, width: usize) -> String {
    let line = |shown: usize| match (shown, all - shown) {
        (_, 0) => start.to_owned() + &names.join(", "),
        (0, left) => start.to_owned() + &several(left as u64, "function"),
        (_, left) => format!("{start}{} and {left} more", names[..shown].join(", ")),
    };
    // No character takes more columns than bytes.
    let fits = |line: &String| line.len() <= width;
    let mut lines = (1..=names.len()).rev().map(line);
    lines.find(fits).unwrap_or_else(|| line(0))
}

/// The callsites that `TSC_ONLY` and `TSC_SKIP` leave out.
pub(super) fn left_out(report: &Report, options: &TextOptions) -> Vec<String> {
    if report.left_out.is_empty() {
        return Vec::new();
    }
    let count = several(report.left_out.len() as u64, "function");
    let causes = options.name_of("TSC_ONLY or TSC_SKIP", "--only, TSC_ONLY or TSC_SKIP");
    let heading = format!("tsc: {count} not measured, because of {causes}:");
    let names = wrapped(
        &escaped(&report.left_out.join(", ")),
        options.width_of_lines(),
    );
    [heading].into_iter().chain(names).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_that_leaves_out_is_named_on_the_command_line() {
        let mut report = Report::default();
        report.left_out.push("parse".to_owned());
        let heading = |options: &TextOptions| left_out(&report, options)[0].clone();
        let options = TextOptions::default();
        assert!(heading(&options).ends_with("because of TSC_ONLY or TSC_SKIP:"));
        let options = options.command_line(true);
        assert!(heading(&options).contains("because of --only, "));
    }

    #[test]
    fn attributes_that_are_not_the_users_are_not_to_be_changed() {
        let row = CallsiteReport {
            self_on_cpu_ticks: Some(60.0),
            mean_ticks: Some(2.0),
            samples: 1,
            ..CallsiteReport::default()
        };
        let mut report = Report::default();
        report.callsites.push(row);
        let says_light = |own_attributes| {
            let options = TextOptions::default().own_attributes(own_attributes);
            let text = report.to_text(&options);
            assert!(text.contains("tsc: < too short to be timed"), "{text}");
            text.contains("#[cycles")
        };
        assert!(says_light(true) && !says_light(false));
    }

    #[test]
    fn names_are_shown_whole_or_counted() {
        let names = ["parse", "Index::rank", "a_function_with_a_long_name"].map(str::to_owned);
        for (width, expected) in [
            (80, "tsc: ~ parse, Index::rank, a_function_with_a_long_name"),
            (40, "tsc: ~ parse, Index::rank and 1 more"),
            (30, "tsc: ~ parse and 2 more"),
            (20, "tsc: ~ 3 functions"),
        ] {
            assert_eq!(listed("tsc: ~ ", &names, 3, width), expected);
        }
        let wide = ["🦀🦀🦀🦀🦀".to_owned()];
        assert_eq!(listed("tsc: ~ ", &wide, 1, 16), "tsc: ~ 1 function");
    }
}
