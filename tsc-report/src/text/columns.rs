//! The table: the two columns of GCLK, and as many of the others as fit, in the order of importance.

use std::fmt::Write as _;
use std::iter::once;

use super::marks::Mark;
use super::names::NAME;
use super::program::LEAST_NS;
use super::scale::{count, fixed, short_count};
use super::style::{BOLD, DIM};
use super::{Page, TextForm};
use crate::CallsiteReport;

/// GCLK's second column.
const TOTAL: usize = 14;
/// `:CLK: `, the name, ` :` and the total.
const GCLK: usize = 6 + NAME + 2 + TOTAL;
/// Rows with a larger share of all self ticks than this, in percent, are printed bold.
const OUTSTANDING: f64 = 20.0;
/// The column of blocked time is there if a row was blocked for more than this share of all self ticks and blocked time, and for [`LEAST_NS`].
const BLOCKED: f64 = 0.01;

/// The heading, and the line of each row.
pub(super) fn table(page: &Page<'_>) -> (String, Vec<String>) {
    let (clock, rows) = (&page.report.clock, &page.rows);
    let times = page.scale.unit.map(|unit| format!("; times in {unit}"));
    let functions = format!("function{}{}", times.unwrap_or_default(), clock.distrust());
    let total = format!("total {}", clock.unit());
    let mut heading = format!("      {functions:<NAME$} :{total:>TOTAL$}");
    let gclk = |row: &&CallsiteReport| {
        // The average cost of probes is subtracted, which may have been more than was in these calls.
        let total = fixed(row.total_ticks.max(0.0), 0);
        format!(":CLK: {} :{total:>TOTAL$}", page.names.shown(row))
    };
    let mut lines: Vec<String> = rows.shown.iter().map(gclk).collect();
    for column in columns(page) {
        let width = column.width;
        let columns = once(column.heading).chain(column.cells.iter().map(String::as_str));
        for (line, cell) in once(&mut heading).chain(&mut lines).zip(columns) {
            // Faster than to add a new text.
            let _ = write!(line, " {cell:>width$}");
        }
    }
    for (line, row) in lines.iter_mut().zip(&rows.shown) {
        if rows.self_share(row) > OUTSTANDING {
            *line = page.styled(BOLD, line);
        }
    }
    (page.styled(DIM, &heading), lines)
}

struct Column {
    /// Where it stands from left to right.
    place: usize,
    heading: &'static str,
    /// One for each row.
    cells: Vec<String>,
    /// The number of characters of the widest of them.
    width: usize,
}

/// Makes a column's cell for a row.
type Cell<'a> = &'a dyn Fn(&CallsiteReport) -> String;

/// The columns that are shown.
fn columns(page: &Page<'_>) -> Vec<Column> {
    let (rows, scale) = (&page.rows, &page.scale);
    let is_full = page.options.form == TextForm::Full;
    let number = if is_full { count } else { short_count };
    let call = |row: &CallsiteReport, ticks| of_a_call(page, row, ticks);
    // Where the column stands from left to right, and what it shows, in the order of importance.
    let mut by_importance: [(usize, &'static str, Cell<'_>); 14] = [
        (0, "self%", &|row| share(page, row)),
        (4, "calls", &|row| number(row.calls)),
        (7, "mean", &|row| call(row, found(row, row.mean_ticks))),
        (3, "block", &|row| scale.cell(row.own_blocked())),
        (1, "self", &|row| scale.known(found(row, Some(row.own())))),
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
        (8, "s.e.", &|row| scale.known(row.std_error_ticks)),
    ];
    // What the rows are sorted by comes next to the share.
    let key = page.options.sort.to_string();
    by_importance[1..].sort_by_key(|&(_, at, _)| at == "self" || !key.starts_with(at));
    let least = page.report.clock.hz.map_or(0.0, |hz| LEAST_NS * hz / 1e9);
    let is_blocked = |row: &&CallsiteReport| {
        let blocked = row.own_blocked();
        blocked > BLOCKED * (rows.self_sum + blocked) && blocked >= least
    };
    let is_wanted = |heading: &str| match heading {
        "block" => rows.shown.iter().any(is_blocked),
        "clean" | "panicked" | "s.e." => is_full,
        _ => true,
    };
    let wanted = by_importance.into_iter().filter(|of| is_wanted(of.1));
    fitting(&rows.shown, wanted, page.options.width.saturating_sub(GCLK))
}

/// Those of the columns, which are in the order of importance, for which there is room, but at least one.
fn fitting<'a>(
    rows: &[&CallsiteReport],
    by_importance: impl Iterator<Item = (usize, &'static str, Cell<'a>)>,
    mut room: usize,
) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for (place, heading, cell) in by_importance {
        let has_room = |width: usize| width < room || columns.is_empty();
        let mut width = heading.chars().count();
        // Most columns have no room, whatever is in them.
        if !has_room(width) {
            continue;
        }
        let cells: Vec<String> = rows.iter().map(|row| cell(row)).collect();
        let widths = cells.iter().map(|cell| cell.chars().count());
        width = widths.fold(width, usize::max);
        if !has_room(width) {
            continue;
        }
        room = room.saturating_sub(1 + width);
        let column = Column {
            place,
            heading,
            cells,
            width,
        };
        let after = |one: &Column| one.place < place;
        columns.insert(columns.partition_point(after), column);
    }
    columns
}

/// The share of all self ticks, with the row's gravest mark before it. What is too short stands before the times of its calls.
fn share(page: &Page<'_>, row: &CallsiteReport) -> String {
    let share = fixed(page.rows.self_share(row), 1);
    match Mark::of(row, &page.report.clock, page.rows.self_sum) {
        None | Some(Mark::BelowResolution) => share,
        Some(mark) => format!("{}{share}", mark.character()),
    }
}

/// The ticks, unless they are those of the clock, and none of them has found the function.
pub(super) fn found(row: &CallsiteReport, ticks: Option<f64>) -> Option<f64> {
    ticks.filter(|&ticks| ticks != 0.0 || !row.is_by_ticks())
}

/// A time of single calls, or of the only one. What cannot be distinguished from that of an empty call is below what can be resolved.
fn of_a_call(page: &Page<'_>, row: &CallsiteReport, ticks: Option<f64>) -> String {
    let of_one = row.mean_ticks.filter(|_| row.calls == 1);
    let ticks = ticks.or(found(row, of_one));
    if row.is_unresolved(ticks) {
        return format!("<{}", page.scale.bound(CallsiteReport::RESOLVED_TICKS));
    }
    page.scale.known(ticks)
}

#[cfg(test)]
mod tests {
    use crate::data::LIGHT;
    use crate::{CallsiteReport, Report};

    #[test]
    fn blocked_time_of_less_than_a_switch_has_no_column() {
        let has_column = |blocked: f64| {
            let row = CallsiteReport {
                self_ticks: 20.0 + blocked,
                self_on_cpu_ticks: Some(20.0),
                ..CallsiteReport::default()
            };
            let mut report = Report {
                callsites: vec![row],
                ..Report::default()
            };
            report.clock.hz = Some(1e9);
            report.to_string().contains(" block ")
        };
        assert_eq!([0.4, 999.0, 1000.0].map(has_column), [false, false, true]);
    }

    #[test]
    fn light_function_that_no_tick_has_found_has_no_times() {
        for calls in [1, 2] {
            let row = CallsiteReport {
                name: "f".to_owned(),
                probe: LIGHT.to_owned(),
                calls,
                mean_ticks: Some(0.0),
                clock_ticks: Some(0),
                unit: Some("items".to_owned()),
                ticks_per_unit: Some(0.0),
                ..CallsiteReport::default()
            };
            let report = Report {
                callsites: vec![row],
                ..Report::default()
            };
            let text = report.to_string();
            let line = text
                .lines()
                .find(|line| line.starts_with(":CLK: f "))
                .unwrap();
            // The total, the share of self, self and its error, and the calls come first.
            let cells: Vec<&str> = line[59..].split_whitespace().skip(5).collect();
            assert!(
                !cells.is_empty() && cells.iter().all(|&cell| cell == "-"),
                "{line}"
            );
            assert!(!text.contains("per item"), "{text}");
        }
    }
}
