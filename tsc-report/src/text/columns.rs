//! The table: the two columns of GCLK, and as many of the others as fit, in the order of importance.

use std::fmt::{self, Write as _};

use super::marks::Mark;
use super::names::{NAME, Names};
use super::rows::Rows;
use super::scale::{Scale, count, fixed, short_count};
use super::style::Style;
use super::{TextForm, TextOptions};
use crate::{CallsiteReport, Clock};

/// GCLK's second column.
const TOTAL: usize = 14;
/// `:CLK: `, the name, ` :` and the total.
const GCLK: usize = 6 + NAME + 2 + TOTAL;
/// Rows with a larger share of all self ticks than this, in percent, are printed bold.
const OUTSTANDING: f64 = 20.0;
/// The column of blocked time is there if a row was blocked for more than this share of all self ticks and blocked time.
const BLOCKED: f64 = 0.01;

/// A column's heading and its cells, one for each row.
struct Column {
    heading: &'static str,
    cells: Vec<String>,
    /// The number of characters of the widest of them.
    width: usize,
}

pub(super) struct Table<'a> {
    rows: Vec<Row<'a>>,
    columns: Vec<Column>,
    heading: String,
}

/// The parts of a row that are always printed.
struct Row<'a> {
    name: &'a str,
    total: String,
    share: f64,
}

impl<'a> Table<'a> {
    pub(super) fn new(
        rows: &Rows<'a>,
        names: &'a Names,
        scale: &Scale,
        clock: &Clock,
        options: &TextOptions,
    ) -> Self {
        let columns = columns(rows, scale, clock, options);
        Self {
            columns,
            heading: match scale.unit {
                None => format!("function{}", clock.distrust()),
                Some(unit) => format!("function; times in {unit}{}", clock.distrust()),
            },
            rows: rows
                .shown()
                .map(|row| Row {
                    name: names.shown(row),
                    // The average cost of probes is subtracted, which may have been more than was in these calls.
                    total: fixed(row.total_ticks.max(0.0), 0),
                    share: rows.self_share(row),
                })
                .collect(),
        }
    }

    pub(super) fn write_heading(
        &self,
        out: &mut dyn fmt::Write,
        clock: &Clock,
        style: &Style,
    ) -> fmt::Result {
        let total = format!("total {}", clock.unit());
        let mut line = format!("      {:<NAME$} :{total:>TOTAL$}", self.heading);
        for column in &self.columns {
            write!(line, " {:>1$}", column.heading, column.width)?;
        }
        writeln!(out, "{}", style.dim(&line))
    }

    pub(super) fn write_row(
        &self,
        out: &mut dyn fmt::Write,
        index: usize,
        style: &Style,
    ) -> fmt::Result {
        let row = &self.rows[index];
        let mut line = format!(":CLK: {} :{:>TOTAL$}", row.name, row.total);
        for column in &self.columns {
            write!(line, " {:>1$}", column.cells[index], column.width)?;
        }
        if row.share > OUTSTANDING {
            line = style.bold(&line);
        }
        writeln!(out, "{line}")
    }
}

impl Column {
    fn new(heading: &'static str, cells: Vec<String>) -> Self {
        let widths = cells.iter().map(|cell| cell.chars().count());
        let width = widths.chain([heading.chars().count()]).max();
        Self {
            heading,
            cells,
            width: width.unwrap_or(0),
        }
    }
}

/// Makes a column's cell for a row.
type Cell<'a> = &'a dyn Fn(&CallsiteReport) -> String;

/// The columns for which there is room, but at least one.
fn columns(rows: &Rows<'_>, scale: &Scale, clock: &Clock, options: &TextOptions) -> Vec<Column> {
    let is_full = options.form == TextForm::Full;
    let known = |ticks: Option<f64>| ticks.map_or("-".to_owned(), |ticks| scale.cell(ticks));
    let call = |row: &CallsiteReport, ticks: Option<f64>| {
        let of_one = row.mean_ticks.filter(|_| row.calls == 1);
        of_a_call(row, ticks.or(of_one), scale)
    };
    let number = |calls| {
        if is_full {
            count(calls)
        } else {
            short_count(calls)
        }
    };
    // Where the column stands from left to right, and what it shows, in the order of importance.
    let by_importance: [(usize, &'static str, Cell<'_>); 14] = [
        (0, "self%", &|row| share(rows, row, clock)),
        (4, "calls", &|row| number(row.calls)),
        (7, "mean", &|row| call(row, row.mean_ticks)),
        (3, "block", &|row| scale.cell(row.own_blocked())),
        (1, "self", &|row| scale.cell(row.self_on_cpu().max(0.0))),
        (9, "p50", &|row| call(row, row.p50_ticks)),
        (10, "p99", &|row| call(row, row.p99_ticks)),
        (2, "±", &|row| {
            let share = row.self_error_share();
            share.map_or("-".to_owned(), |share| format!("{:.0}%", share * 100.0))
        }),
        (12, "max", &|row| call(row, row.max_ticks)),
        (11, "min", &|row| call(row, row.min_ticks)),
        (13, "first", &|row| call(row, row.first_ticks)),
        (5, "clean", &|row| row.clean.map_or("?".to_owned(), count)),
        (6, "panicked", &|row| count(row.panicked)),
        (8, "s.e.", &|row| known(row.std_error_ticks)),
    ];
    let is_blocked =
        |row: &CallsiteReport| row.own_blocked() > BLOCKED * (rows.self_sum() + row.own_blocked());
    let mut room = options.width.saturating_sub(GCLK);
    let mut columns: Vec<(usize, Column)> = Vec::new();
    for (place, heading, cell) in by_importance {
        let is_wanted = match heading {
            "block" => rows.shown().any(is_blocked),
            "clean" | "panicked" | "s.e." => is_full,
            _ => true,
        };
        if !is_wanted {
            continue;
        }
        let column = Column::new(heading, rows.shown().map(cell).collect());
        let used = 1 + column.width;
        if used > room && !columns.is_empty() {
            continue;
        }
        room = room.saturating_sub(used);
        columns.push((place, column));
    }
    columns.sort_by_key(|&(place, _)| place);
    columns.into_iter().map(|(_, column)| column).collect()
}

/// The share of all self ticks, with the row's gravest mark before it. What is too short stands before the times of its calls.
fn share(rows: &Rows<'_>, row: &CallsiteReport, clock: &Clock) -> String {
    let mark = Mark::of(row, clock).filter(|&mark| mark != Mark::BelowResolution);
    let share = fixed(rows.self_share(row), 1);
    mark.map_or(share.clone(), |mark| format!("{}{share}", mark.character()))
}

/// A time of single calls. What cannot be distinguished from that of an empty call is below what can be resolved. Times by ticks of the
/// clock are means of many calls.
fn of_a_call(row: &CallsiteReport, ticks: Option<f64>, scale: &Scale) -> String {
    match ticks {
        Some(ticks) if ticks < CallsiteReport::RESOLVED_TICKS && !row.is_light() => {
            format!("<{}", scale.bound(CallsiteReport::RESOLVED_TICKS))
        }
        Some(ticks) => scale.cell(ticks),
        None => "-".to_owned(),
    }
}
