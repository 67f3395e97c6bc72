//! The table: the two columns of GCLK, and as many of the others as fit, in the order of importance.

use std::fmt::{self, Write as _};

use super::marks::Mark;
use super::names::{NAME, Names};
use super::rows::Rows;
use super::scale::{Scale, fixed};
use super::style::Style;
use crate::{CallsiteReport, Clock};

/// GCLK's second column.
const TOTAL: usize = 14;
/// `:CLK: `, the name, ` :` and the total.
const GCLK: usize = 6 + NAME + 2 + TOTAL;
/// A space and a mark at the end of a row.
const MARK: usize = 2;
/// Rows with a larger share of all self ticks than this, in percent, are printed bold.
const OUTSTANDING: f64 = 20.0;

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
    mark: Option<Mark>,
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
        let columns = columns(rows, scale, width.saturating_sub(GCLK + MARK));
        Self {
            columns,
            heading: format!("net {}{}", scale.unit, clock.distrust()),
            rows: rows
                .shown()
                .map(|row| Row {
                    name: names.shown(row),
                    total: scale.whole(row.total_ticks),
                    mark: Mark::of(row, clock),
                    share: rows.self_share(row),
                })
                .collect(),
        }
    }

    pub(super) fn write_heading(&self, out: &mut dyn fmt::Write, style: &Style) -> fmt::Result {
        let mut line = format!("      {:<NAME$} :{:>TOTAL$}", self.heading, "total");
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
        if let Some(mark) = row.mark {
            line += " ";
            line += &style.doubtful(&mark.character().to_string());
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

/// The columns for which there is room, but at least one, in the order of importance.
fn columns(rows: &Rows<'_>, scale: &Scale, mut room: usize) -> Vec<Column> {
    let ticks =
        |ticks: Option<f64>| ticks.map_or_else(|| "-".to_owned(), |ticks| scale.short(ticks));
    let by_importance: [(&str, Cell<'_>); 9] = [
        ("self%", &|row| fixed(rows.self_share(row), 1)),
        ("calls", &|row| row.calls.to_string()),
        ("mean", &|row| ticks(row.mean_ticks)),
        ("p50", &|row| ticks(row.p50_ticks)),
        ("p99", &|row| ticks(row.p99_ticks)),
        ("±", &|row| ticks(row.mean_error())),
        ("min", &|row| ticks(row.min_ticks)),
        ("max", &|row| ticks(row.max_ticks)),
        ("first", &|row| ticks(row.first_ticks)),
    ];
    let mut columns = Vec::new();
    for (heading, cell) in by_importance {
        let column = Column::new(heading, rows.shown().map(cell).collect());
        let used = 1 + column.width;
        if used > room && !columns.is_empty() {
            break;
        }
        room = room.saturating_sub(used);
        columns.push(column);
    }
    columns
}

impl CallsiteReport {
    /// The error of the mean: its standard error plus the systematic error of the probes' overhead.
    fn mean_error(&self) -> Option<f64> {
        let systematic = self.systematic_error_ticks?;
        Some(self.std_error_ticks.unwrap_or(0.0) + systematic)
    }
}
