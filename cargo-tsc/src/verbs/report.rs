//! `cargo tsc report`: prints a saved session as a table.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Result, bail};
use tsc_report::{CallsiteReport, Report};

use crate::command_line::{ReportArgs, Sort, Unit, View};
use crate::escape::line;
use crate::exit::Exit;
use crate::output;
use crate::progress::remark;
use crate::rows::{all_self_ticks, key, maybe, number, path, per_tick, percent, self_ticks};
use crate::session::{self, About, Session, Store};
use crate::statistics;
use crate::table::{self, Table};

/// Runs the verb.
///
/// # Errors
/// If there is no such session.
pub fn report(args: &ReportArgs) -> Result<Exit> {
    let store = Store::here();
    let session = session::load(args.session.as_deref(), &store)?;
    match &args.html {
        Some(file) => {
            let before = match &args.since {
                Some(before) => Some(session::load(Some(before), &store)?.sum()?),
                None => None,
            };
            write_page(file, &session.sum()?, before.as_ref())?;
        }
        None => print(&session, &args.view)?,
    }
    Ok(Exit::Fine)
}

fn write_page(file: &Path, sum: &Report, before: Option<&Report>) -> Result<()> {
    let page = cargo_tsc::html::page(sum, before)?;
    output::write(file, page)?;
    remark(&format!("wrote {}", file.display()));
    if sum.contexts().is_empty() {
        remark("the page has no flame graph: record the call tree with `cargo tsc run --tree`");
    }
    Ok(())
}

/// Prints a session.
///
/// # Errors
/// If its runs cannot be added, if the unit is not known, or if the output cannot be written.
pub fn print(session: &Session, view: &View) -> Result<()> {
    let sum = session.sum()?;
    if view.json {
        return print_json(session, &sum);
    }
    let unit = Scale::new(view.unit, &sum)?;
    let rows = chosen(&sum, view);
    let table = rows_table(session, &sum, &rows, &unit);
    let mut out = anstream::stdout().lock();
    if view.markdown {
        writeln!(out, "{}", table.to_markdown())?;
    } else {
        heading(&mut out, session, &sum, &unit)?;
        write!(out, "{}", table.to_text(table::width()))?;
        for row in &rows {
            if view.histogram {
                histogram(&mut out, row, &unit)?;
            }
            if view.threads {
                threads(&mut out, row, &unit)?;
            }
        }
    }
    let left = sum.callsites().len() - rows.len();
    if left > 0 && view.filter.is_none() {
        remark(&format!(
            "{left} more rows: --top {}",
            sum.callsites().len()
        ));
    }
    for sentence in sum.clock().warnings() {
        remark(sentence);
    }
    Ok(())
}

/// The rows that the user selects, in the selected order.
fn chosen<'a>(sum: &'a Report, view: &View) -> Vec<&'a CallsiteReport> {
    let wanted = |row: &&CallsiteReport| {
        view.filter
            .as_ref()
            .is_none_or(|filter| filter.is_match(&path(row)))
    };
    let mut rows: Vec<&CallsiteReport> = sum.callsites().iter().filter(wanted).collect();
    match view.sort {
        Sort::Name => rows.sort_by_key(|row| path(row)),
        sort => rows.sort_by(|a, b| key(b, sort).total_cmp(&key(a, sort))),
    }
    rows.truncate(view.top);
    rows
}

/// The size of a tick in the unit that is printed.
struct Scale {
    name: &'static str,
    per_tick: f64,
}

impl Scale {
    fn new(unit: Unit, sum: &Report) -> Result<Self> {
        let name = match unit {
            Unit::Ticks => "ticks",
            Unit::Ns => "ns",
            Unit::Cycles => "core cycles",
        };
        match per_tick(unit, sum.clock()) {
            Some(per_tick) => Ok(Self { name, per_tick }),
            None => bail!("the report does not say how many {name} a tick is: use --unit ticks"),
        }
    }

    fn show(&self, ticks: f64) -> String {
        number(ticks * self.per_tick)
    }

    fn maybe(&self, ticks: Option<f64>) -> String {
        maybe(ticks.map(|ticks| ticks * self.per_tick))
    }
}

fn heading(
    out: &mut impl std::io::Write,
    session: &Session,
    sum: &Report,
    unit: &Scale,
) -> Result<()> {
    let runs = session.runs.len();
    let command = session.about.as_ref().map_or_else(
        || sum.process().argv().join(" "),
        |about| about.command.join(" "),
    );
    let mut facts: Vec<String> = [command].into_iter().filter(|it| !it.is_empty()).collect();
    if runs > 1 {
        facts.push(format!("{runs} runs"));
    }
    let mut title = session.label.clone();
    if !facts.is_empty() {
        title += &format!(": {}", facts.join("; "));
    }
    line(out, &title)?;
    let clock = sum.clock();
    let cpu = sum
        .machine()
        .cpu()
        .or(clock.cpu())
        .unwrap_or("an unknown CPU");
    let rate = clock
        .hz()
        .map_or(String::new(), |hz| format!(" at {:.1} MHz", hz / 1e6));
    let figures = format!("figures in {}, of all runs together", unit.name);
    line(out, &format!("{cpu}, {}{rate}; {figures}", clock.source()))?;
    let about: &[String] = session
        .about
        .as_ref()
        .map_or(&[], |About { remarks, .. }| remarks);
    for sentence in about {
        line(out, sentence)?;
    }
    Ok(())
}

fn rows_table(session: &Session, sum: &Report, rows: &[&CallsiteReport], unit: &Scale) -> Table {
    let all = all_self_ticks(sum);
    let mut table = Table::new([
        "function", "self %", "self", "calls", "mean", "p50", "p99", "total", "spread", "±", "min",
        "max", "first",
    ]);
    for row in rows {
        table.push([
            path(row).into(),
            percent(self_ticks(row) / all).into(),
            unit.show(self_ticks(row)).into(),
            row.calls().to_string().into(),
            unit.maybe(row.mean_ticks()).into(),
            unit.maybe(row.p50_ticks()).into(),
            unit.maybe(row.p99_ticks()).into(),
            unit.show(row.total_ticks()).into(),
            spread(session, row)
                .map_or_else(|| "-".to_owned(), percent)
                .into(),
            unit.maybe(row.std_error_ticks()).into(),
            unit.maybe(row.min_ticks()).into(),
            unit.maybe(row.max_ticks()).into(),
            unit.maybe(row.first_ticks()).into(),
        ]);
    }
    table
}

/// Half the range of the self times of the runs, as a share of their median.
fn spread(session: &Session, row: &CallsiteReport) -> Option<f64> {
    let of_run = |run: &Report| {
        let same = run
            .callsites()
            .iter()
            .find(|callsite| path(callsite) == path(row) && callsite.line() == row.line());
        same.map(self_ticks)
    };
    let values: Vec<f64> = session.runs.iter().filter_map(of_run).collect();
    let middle = statistics::median(&values).filter(|&middle| middle > 0.0 && values.len() > 1)?;
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    Some((greatest - least) / 2.0 / middle)
}

fn histogram(out: &mut impl std::io::Write, row: &CallsiteReport, unit: &Scale) -> Result<()> {
    const BAR: f64 = 50.0;
    // There are too many buckets to read, so those of one power of two are shown as one.
    let mut octaves: Vec<(u64, u64)> = Vec::new();
    for bucket in row.histogram() {
        let from = 1 << bucket.from_ticks().max(1).ilog2();
        match octaves.last_mut().filter(|octave| octave.0 == from) {
            Some(octave) => octave.1 += bucket.calls(),
            None => octaves.push((from, bucket.calls())),
        }
    }
    let most = octaves.iter().map(|octave| octave.1).max().unwrap_or(1) as f64;
    let samples = format!("{} samples by their length, probe included", row.samples());
    writeln!(out)?;
    line(out, &format!("{}: {samples}", path(row)))?;
    for (from, calls) in octaves {
        let bar = "█".repeat((calls as f64 / most * BAR).ceil() as usize);
        writeln!(out, "{:>10}.. {calls:>12} {bar}", unit.show(from as f64))?;
    }
    Ok(())
}

fn threads(out: &mut impl std::io::Write, row: &CallsiteReport, unit: &Scale) -> Result<()> {
    if row.thread_rows().is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    line(out, &format!("{} by thread", path(row)))?;
    let mut table = Table::new(["thread", "threads", "calls", "self", "total"]);
    for thread in row.thread_rows() {
        table.push([
            thread.name().unwrap_or("without a name").into(),
            thread.threads().to_string().into(),
            thread.calls().to_string().into(),
            unit.show(thread.self_ticks()).into(),
            unit.show(thread.total_ticks()).into(),
        ]);
    }
    write!(out, "{}", table.to_text(table::width()))?;
    Ok(())
}

fn print_json(session: &Session, sum: &Report) -> Result<()> {
    let value = serde_json::json!({
        "session": session.label,
        "path": session.path,
        "about": session.about,
        "runs": session.runs.len(),
        "report": sum,
    });
    let mut out = anstream::stdout().lock();
    writeln!(out, "{value}")?;
    Ok(())
}

/// Prints a session that was just measured.
///
/// # Errors
/// Those of [`print`].
pub fn print_from(folder: &Path, store: &Store, view: &View) -> Result<()> {
    let mut session = session::load(Some(folder), store)?;
    session.label = folder.file_name().unwrap_or_default().display().to_string();
    print(&session, view)
}
