//! `cargo tsc top PID`: shows where a running program's ticks go, from the reports that it makes at intervals.

mod process;
mod screen;

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use anyhow::Result;
use tsc_report::__private::{count, time};
use tsc_report::{CallsiteReport, Report};

use crate::command_line::TopArgs;
use crate::escape::escaped;
use crate::exit::Exit;
use crate::interrupt;
use crate::output;
use crate::rows::{RowsByName, command_line, maybe, path, percent};
use crate::session::read_report;
use crate::table::{self, Table};

/// How often the report is read.
const EVERY: Duration = Duration::from_millis(500);

/// Runs the verb.
///
/// # Errors
/// If the process makes no reports, or its report cannot be read.
pub fn top(args: &TopArgs) -> Result<Exit> {
    let file = process::report_file(args.pid)?;
    let mut latest = read_report(&file)?;
    if args.json {
        writeln!(output::stdout(), "{}", latest.to_json())?;
        return Ok(Exit::Fine);
    }
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        return last_page(args.pid, &latest);
    }
    let mut before: Option<Report> = None;
    // The screen must be closed after a signal, too.
    interrupt::outlive()?;
    let screen = screen::Screen::open()?;
    loop {
        interrupt::check()?;
        let (width, height) = screen::size();
        let title = title(args.pid, &latest, " (q quits)");
        screen.show(&page(&title, &latest, before.as_ref(), width, height))?;
        if screen::quits_within(EVERY)? {
            return Ok(Exit::Fine);
        }
        // Until there is a new report, the last one stays.
        if let Ok(report) = read_report(&file)
            && report.process().duration_ns() != latest.process().duration_ns()
        {
            before = Some(std::mem::replace(&mut latest, report));
        }
        if !process::is_alive(args.pid) {
            drop(screen);
            return last_page(args.pid, &latest);
        }
    }
}

/// The whole table, printed once.
fn last_page(pid: u32, latest: &Report) -> Result<Exit> {
    let title = title(pid, latest, "");
    let page = page(&title, latest, None, table::width(), usize::MAX);
    write!(output::styled_stdout(), "{page}")?;
    Ok(Exit::Fine)
}

/// The first line: which process this is, and what a key does.
fn title(pid: u32, latest: &Report, keys: &str) -> String {
    let seconds = latest.process().duration_ns() as f64 / 1e9;
    let command = command_line(latest);
    escaped(&format!(
        "process {pid}, after {seconds:.1} s{keys}: {command}"
    ))
}

/// The table, sorted by the difference to the previous report. If there is none, it is sorted by everything, and nothing is known of now.
fn page(
    title: &str,
    latest: &Report,
    before: Option<&Report>,
    width: usize,
    height: usize,
) -> String {
    let title: String = title.chars().take(width).collect();
    let before = before.map(RowsByName::of);
    let mut rows = Vec::new();
    for row in latest.callsites() {
        let earlier = before.as_ref().and_then(|before| before.same(row));
        let (ticks, calls) = earlier.map_or((0.0, 0), |row| (row.self_on_cpu(), row.calls()));
        let calls = row.calls().saturating_sub(calls);
        rows.push((row, (row.self_on_cpu() - ticks).max(0.0), calls));
    }
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    let now: f64 = rows.iter().map(|(_, ticks, _)| ticks).sum();
    let all = latest.self_sum();
    let of_now = |shown: String| if before.is_some() { shown } else { maybe(None) };
    let hz = latest.clock().hz();
    let shown = |ticks: Option<f64>| match ticks.zip(hz) {
        Some((ticks, hz)) => time(ticks / hz * 1e9),
        None => maybe(ticks),
    };
    // As in a report: what cannot be distinguished from an empty call is below what can be resolved.
    let of_a_call = |row: &CallsiteReport, ticks: Option<f64>| {
        if row.is_unresolved(ticks) {
            return format!("<{}", shown(Some(CallsiteReport::RESOLVED_TICKS)));
        }
        shown(ticks)
    };
    let mut table = Table::new([
        "function",
        "now %",
        "calls now",
        "all %",
        "calls",
        "mean",
        "p99",
    ]);
    for (row, ticks, calls) in rows.into_iter().take(height.saturating_sub(2)) {
        table.push([
            path(row).into(),
            of_now(percent(ticks / now.max(1.0))).into(),
            of_now(count(calls)).into(),
            percent(row.own() / all.max(1.0)).into(),
            count(row.calls()).into(),
            of_a_call(row, row.mean_ticks()).into(),
            of_a_call(row, row.p99_ticks()).into(),
        ]);
    }
    format!("{title}\n{}", table.to_text(width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_short_to_be_timed_has_no_time() {
        let row = |name: &str, probe: &str, ticks| CallsiteReport {
            name: name.to_owned(),
            probe: probe.to_owned(),
            calls: 9,
            mean_ticks: Some(ticks),
            p99_ticks: Some(ticks),
            ..CallsiteReport::default()
        };
        let mut report = Report::default();
        report.clock.hz = Some(1e9);
        report.callsites = vec![
            row("tiny", "timed", 2.0),
            row("short", "timed", 31.0),
            row("light", "light", 2.0),
        ];
        let page = page("", &report, None, 100, 9);
        let shown = |name: &str| {
            let row = page.lines().find(|line| line.contains(name)).unwrap();
            row.split_whitespace().last().unwrap().to_owned()
        };
        assert_eq!(shown("tiny"), "<30.0ns");
        assert_eq!(shown("short"), "31.0ns");
        assert_eq!(shown("light"), "2.00ns");
    }

    #[test]
    fn first_page_says_nothing_of_now() {
        let mut report = Report::default();
        let row = |calls| CallsiteReport {
            name: "parse".to_owned(),
            self_on_cpu_ticks: Some(50.0 * calls as f64),
            calls,
            ..CallsiteReport::default()
        };
        report.callsites = vec![row(9)];
        let first = report.clone();
        report.callsites = vec![row(11)];
        let shown = |before| {
            let page = page("", &report, before, 100, 9);
            let row = page.lines().find(|line| line.contains("parse")).unwrap();
            let cells: Vec<String> = row.split_whitespace().map(str::to_owned).collect();
            cells[1..].join(" ")
        };
        assert_eq!(shown(None), "- - 100.0 % 11 - -");
        assert_eq!(shown(Some(&first)), "100.0 % 2 100.0 % 11 - -");
    }
}
