//! The dump's last lines: what each mark means and what to do about it, and what was not counted or not shown.

use std::fmt;

use super::marks::Mark;
use super::names::escaped;
use super::notes::write_wrapped;
use super::rows::Rows;
use super::{TextForm, TextOptions};
use crate::Report;

pub(super) fn write(
    out: &mut dyn fmt::Write,
    report: &Report,
    rows: &Rows<'_>,
    options: &TextOptions,
) -> fmt::Result {
    if options.form == TextForm::Histogram {
        writeln!(
            out,
            "tsc: F marks the first call; both axes are logarithmic"
        )?;
    }
    for mark in Mark::ALL {
        if rows
            .shown()
            .any(|row| Mark::of(row, &report.clock) == Some(mark))
        {
            writeln!(
                out,
                "tsc: {} {}",
                mark.character(),
                mark.explanation(&report.clock)
            )?;
        }
    }
    if rows.left_out() != 0 {
        writeln!(
            out,
            "tsc: {} more rows; TSC_TOP=0 shows all",
            rows.left_out()
        )?;
    }
    if report.unrecorded_calls != 0 {
        writeln!(
            out,
            "tsc: {} calls by the allocator or a signal handler, in the middle of a recording, were not recorded",
            report.unrecorded_calls
        )?;
    }
    write_left_out(out, report, options.width)
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
