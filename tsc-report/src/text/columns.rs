//! The table: the two columns of GCLK, and as many of the others as fit, in the order of importance.

use std::fmt::{self, Write as _};

use super::marks::Mark;
use super::names::{NAME, Names};
use super::rows::Rows;
use super::scale::{Scale, count, fixed};
use super::style::Style;
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
        width: usize,
    ) -> Self {
        let columns = columns(rows, scale, clock, width.saturating_sub(GCLK));
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
                    total: fixed(row.total_ticks, 0),
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
fn columns(rows: &Rows<'_>, scale: &Scale, clock: &Clock, mut room: usize) -> Vec<Column> {
    let known = |ticks: Option<f64>| ticks.map_or("-".to_owned(), |ticks| scale.cell(ticks));
    let of_one = |row: &CallsiteReport| row.mean_ticks.filter(|_| row.calls == 1);
    let is_blocked =
        |row: &CallsiteReport| row.own_blocked() > BLOCKED * (rows.self_sum() + row.own_blocked());
    // Where the column stands from left to right, and what it shows, in the order of importance.
    let by_importance: [(usize, &'static str, Cell<'_>); 11] = [
        (0, "self%", &|row| share(rows, row, clock)),
        (4, "calls", &|row| count(row.calls)),
        (5, "mean", &|row| mean(row, scale)),
        (3, "block", &|row| scale.cell(row.own_blocked())),
        (1, "self", &|row| scale.cell(row.self_on_cpu())),
        (6, "p50", &|row| known(row.p50_ticks.or(of_one(row)))),
        (7, "p99", &|row| known(row.p99_ticks.or(of_one(row)))),
        (2, "±", &|row| {
            let share = row.self_error_share();
            share.map_or("-".to_owned(), |share| format!("{:.0}%", share * 100.0))
        }),
        (9, "max", &|row| known(row.max_ticks.or(of_one(row)))),
        (8, "min", &|row| known(row.min_ticks.or(of_one(row)))),
        (10, "first", &|row| known(row.first_ticks)),
    ];
    let mut columns: Vec<(usize, Column)> = Vec::new();
    for (place, heading, cell) in by_importance {
        if heading == "block" && !rows.shown().any(is_blocked) {
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

/// The share of all self ticks, with a mark before it if it is less certain than it looks.
fn share(rows: &Rows<'_>, row: &CallsiteReport, clock: &Clock) -> String {
    let mark = Mark::of(row, clock).map_or(String::new(), |mark| match mark {
        Mark::BelowResolution => Mark::MostlyProbes.character().to_string(),
        mark => mark.character().to_string(),
    });
    mark + &fixed(rows.self_share(row), 1)
}

/// The mean. That of calls which cannot be distinguished from empty ones is below what can be resolved.
fn mean(row: &CallsiteReport, scale: &Scale) -> String {
    match row.mean_ticks {
        _ if row.is_below_resolution() => {
            format!("<{}", scale.bound(CallsiteReport::RESOLVED_TICKS))
        }
        Some(mean) => scale.cell(mean),
        None => "-".to_owned(),
    }
}
