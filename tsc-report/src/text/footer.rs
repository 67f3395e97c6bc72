//! The lines below the table: what each mark means and what to do about it, and what was not counted or not shown.

use std::fmt;

use super::marks::Mark;
use super::names::{Names, escaped};
use super::notes::write_wrapped;
use super::rows::Rows;
use super::{TextForm, TextOptions};
use crate::{CallsiteReport, Report};

/// At most this many rows with a mark are named.
const NAMED: usize = 5;

pub(super) fn write(
    out: &mut dyn fmt::Write,
    report: &Report,
    rows: &Rows<'_>,
    names: &Names,
    options: &TextOptions,
) -> fmt::Result {
    if options.form == TextForm::Histogram {
        writeln!(
            out,
            "tsc: F marks the first call; both axes are logarithmic"
        )?;
    }
    for mark in Mark::ALL {
        let is_marked = |row: &&CallsiteReport| Mark::of(row, &report.clock) == Some(mark);
        let marked: Vec<&CallsiteReport> = rows.shown().filter(is_marked).collect();
        let named = |row: &&CallsiteReport| match row.self_error_share() {
            Some(share) if mark == Mark::Uncertain => {
                format!("{} ± {:.0} %", names.full(row), share * 100.0)
            }
            _ => names.full(row).to_owned(),
        };
        let first: Vec<String> = marked.iter().take(NAMED).map(named).collect();
        if !first.is_empty() {
            let start = format!("tsc: {} {}: ", mark.character(), mark.explanation());
            let line = listed(&start, &first, marked.len(), options.width);
            writeln!(out, "{line}")?;
        }
    }
    if rows.left_out() != 0 {
        let all = options.name_of("TSC_TOP=0 shows all", "--top N shows more");
        writeln!(out, "tsc: {} more rows; {all}", rows.left_out())?;
    }
    if report.unrecorded_calls != 0 {
        writeln!(
            out,
            "tsc: {} calls were not recorded: by the allocator or a signal handler in the middle of a recording, or without memory",
            report.unrecorded_calls
        )?;
    }
    write_left_out(out, report, options.width)
}

/// The line with as many of the names as fit, and the number of the others of `all`.
fn listed(start: &str, names: &[String], all: usize, width: usize) -> String {
    let line = |shown: usize| match (shown, all - shown) {
        (_, 0) => start.to_owned() + &names.join(", "),
        (0, 1) => format!("{start}1 function"),
        (0, left) => format!("{start}{left} functions"),
        (_, left) => format!("{start}{} and {left} more", names[..shown].join(", ")),
    };
    // No character takes more columns than bytes.
    let fits = |line: &String| line.len() <= width;
    let mut lines = (1..=names.len()).rev().map(line);
    lines.find(fits).unwrap_or_else(|| line(0))
}

/// The callsites that `TSC_ONLY` and `TSC_SKIP` leave out.
pub(super) fn write_left_out(
    out: &mut dyn fmt::Write,
    report: &Report,
    width: usize,
) -> fmt::Result {
    let count = match report.left_out.len() {
        0 => return Ok(()),
        1 => "1 function".to_owned(),
        count => format!("{count} functions"),
    };
    writeln!(
        out,
        "tsc: {count} not measured, because of TSC_ONLY or TSC_SKIP:"
    )?;
    write_wrapped(out, &escaped(&report.left_out.join(", ")), width)
}

#[cfg(test)]
mod tests {
    use super::*;

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
