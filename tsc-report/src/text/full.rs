//! The full form: every column, however wide, and every correction.

use std::fmt;

use super::marks::Mark;
use super::names::{NAME, Names};
use super::rows::Rows;
use super::scale::{Scale, fixed};
use super::tick_clock;
use super::{TextOptions, TextUnit, footer, full_banner, full_notes, notes, slowest};
use crate::{CallsiteReport, Clock, Report};

const TOTAL: usize = 14;
const COUNT: usize = 11;
const PANICKED: usize = 8;
const TICKS: usize = 11;
/// The width of the remarks in this form, in which rows are not wrapped.
const WIDTH: usize = 195;

pub(super) fn write(
    out: &mut dyn fmt::Write,
    report: &Report,
    rows: &Rows<'_>,
    names: &Names,
    options: &TextOptions,
) -> fmt::Result {
    let scale = Scale::new(&report.clock, TextUnit::Ticks);
    full_banner::write(out, &report.clock)?;
    for line in tick_clock::cost(report)
        .into_iter()
        .chain(tick_clock::doubt(report))
    {
        writeln!(out, "tsc: {line}")?;
    }
    write_heading(out, &report.clock)?;
    for row in rows.shown() {
        write_row(out, row, names.shown(row), rows.self_share(row))?;
        write_marks(out, row, &report.clock)?;
        notes::write(out, report, row, names, &scale, WIDTH)?;
        full_notes::write(out, row)?;
        slowest::write(out, report, row, usize::MAX)?;
    }
    footer::write(out, report, rows, &options.clone().width(WIDTH))
}

fn write_heading(f: &mut dyn fmt::Write, clock: &Clock) -> fmt::Result {
    writeln!(
        f,
        "      {:<NAME$} :{:>TOTAL$} {:>COUNT$} {:>COUNT$} {:>PANICKED$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {:>6} {:>TICKS$}",
        format!("net {}{}", clock.unit(), clock.distrust()),
        "total",
        "calls",
        "clean",
        "panicked",
        "mean",
        "± s.e.",
        "min",
        "p50",
        "p99",
        "max",
        "self%",
        "first"
    )
}

fn write_row(
    f: &mut dyn fmt::Write,
    callsite: &CallsiteReport,
    name: &str,
    share: f64,
) -> fmt::Result {
    write!(
        f,
        ":CLK: {} :{:>TOTAL$} {:>COUNT$} {:>COUNT$} {:>PANICKED$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {:>6} {:>TICKS$}",
        name,
        fixed(callsite.total_ticks, 0),
        callsite.calls,
        callsite
            .clean
            .map_or_else(|| "?".to_owned(), |clean| clean.to_string()),
        callsite.panicked,
        ticks(callsite.mean_ticks, 1),
        ticks(callsite.std_error_ticks, 1),
        ticks(callsite.min_ticks, 0),
        ticks(callsite.p50_ticks, 0),
        ticks(callsite.p99_ticks, 0),
        ticks(callsite.max_ticks, 0),
        fixed(share, 1),
        ticks(callsite.first_ticks, 0),
    )
}

fn write_marks(f: &mut dyn fmt::Write, callsite: &CallsiteReport, clock: &Clock) -> fmt::Result {
    for mark in Mark::ALL {
        if mark.is_on(callsite, clock) {
            write!(f, " {}", mark.character())?;
        }
    }
    writeln!(f)
}

pub(super) fn ticks(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| fixed(value, digits))
}
