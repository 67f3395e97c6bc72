//! `cargo tsc report`: prints a saved session as a table.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use cargo_tsc::html;
use tsc_report::__private::Rows;
use tsc_report::{CallsiteReport, Report, TextForm, TextOptions};

use crate::command_line::{ReportArgs, View};
use crate::diff::{Policy, objections};
use crate::escape::line;
use crate::exit::Exit;
use crate::interrupt;
use crate::nearest;
use crate::output;
use crate::progress::{name_of, remark, shown, warn};
use crate::rows::{RowsByName, command_line, path, percent};
use crate::session::{self, Session, Store};
use crate::statistics;
use crate::table;

/// Runs the verb.
///
/// # Errors
/// If there is no such session.
pub fn report(args: &ReportArgs) -> Result<Exit> {
    let store = Store::here();
    let session = session::load(args.session.as_deref(), &store)?;
    if let (Some(Some(file)), None) = (&args.view.html, &args.session)
        && [&store.folder().join(file), file]
            .into_iter()
            .any(|folder| session::is_saved(folder))
    {
        let name = file.display();
        bail!(
            "--html {name}: that is a session, and --html takes a file: `cargo tsc report {name} --html`"
        );
    }
    let before = match &args.since {
        Some(_) if !is_page(&args.view) => bail!("--since colours a page: add --html"),
        Some(before) => {
            let before = session::load(Some(before), &store)?;
            for objection in objections(&before, &session, &Policy::default()) {
                warn(&format!("--since: not comparable: {objection}"));
            }
            Some(before.sum()?)
        }
        None => None,
    };
    print(&session, before.as_ref(), &args.view)?;
    interrupt::check()?;
    Ok(Exit::Fine)
}

fn is_page(view: &View) -> bool {
    view.html.is_some() || view.open
}

fn write_page(session: &Session, sum: &Report, before: Option<&Report>, view: &View) -> Result<()> {
    let file = match view.html.clone().flatten() {
        Some(file) => file,
        None => beside(&session.path)?,
    };
    let page = html::page(sum, before, session.remarks(), !session.is_all())?;
    output::write_whole(&file, page)?;
    session.remarks().iter().for_each(|text| remark(text));
    remark(&format!("wrote {}", shown(&file)));
    if sum.contexts().is_empty() {
        let command = session.tree_command();
        remark(&format!(
            "the page has no flame graph: record the call tree with `{command}`"
        ));
    }
    if view.open {
        open::that_detached(&file).with_context(|| format!("no browser shows {}", shown(&file)))?;
    }
    Ok(())
}

/// Where a page is written if the user names no file.
///
/// # Errors
/// If something else is there.
fn beside(session: &Path) -> Result<PathBuf> {
    let file = match session.is_dir() {
        true => session.join("report.html"),
        false => session.with_extension("html"),
    };
    if file.is_file() && !html::is_page(&file).is_ok_and(|it| it) {
        let file = shown(&file);
        bail!("{file} exists and is no page of a report: name a file, as with --html={file}");
    }
    Ok(file)
}

/// Prints a session, as the program itself would have printed its report, or writes it as a page.
///
/// # Errors
/// If its runs cannot be added, if no row is wanted, or if the output cannot be written.
fn print(session: &Session, before: Option<&Report>, view: &View) -> Result<()> {
    let sum = session.sum()?;
    let is_wanted = |row: &CallsiteReport| {
        let filter = view.filter.as_ref();
        filter.is_none_or(|filter| filter.is_match(&path(row)))
    };
    if let Some(filter) = &view.filter
        && !sum.callsites().iter().any(is_wanted)
    {
        let names: Vec<String> = sum.callsites().iter().map(path).collect();
        bail!("{}", nearest::nothing_matches("--filter", filter, &names));
    }
    if view.json {
        return output::print_json(&serde_json::json!({
            "session": session.label,
            "path": session.path.display().to_string(),
            "about": session.about,
            "runs": session.runs.len(),
            "report": sum,
        }));
    }
    if is_page(view) {
        return write_page(session, &sum, before, view);
    }
    let options = options(view).own_attributes(!session.is_all());
    let text = sum.to_text_where(&options, &is_wanted);
    let mut out = output::styled_stdout();
    let fence = |out: &mut dyn Write, fence: &str| match view.markdown {
        true => writeln!(out, "{fence}"),
        false => Ok(()),
    };
    fence(&mut out, "```text")?;
    heading(&mut out, session, &sum)?;
    write!(out, "{text}")?;
    spreads(&mut out, session, &Rows::new(&sum, &options, &is_wanted))?;
    fence(&mut out, "```")?;
    Ok(())
}

fn options(view: &View) -> TextOptions {
    let form = match (view.full, view.histogram) {
        (true, _) => TextForm::Full,
        (_, true) => TextForm::Histogram,
        _ => TextForm::Short,
    };
    TextOptions::default()
        .form(form)
        .width(table::width())
        .unit(view.unit)
        .sort(view.sort)
        .top(Some(view.top).filter(|&top| top > 0).unwrap_or(usize::MAX))
        .modules(true)
        .command_line(true)
        .slowest(view.slowest)
        .color(!view.markdown)
}

/// What the report does not say of itself: its name, its runs, and what was done to the program.
fn heading(out: &mut impl Write, session: &Session, sum: &Report) -> Result<()> {
    let runs = session.runs.len();
    let about = session.about.as_ref();
    let command = about.map_or_else(|| command_line(sum), |about| about.command.join(" "));
    let command = table::cut(&command, table::width());
    let facts = [command, session::local_start(sum)].into_iter();
    let mut facts: Vec<String> = facts.filter(|it| !it.is_empty()).collect();
    if runs > 1 {
        facts.push(format!("all figures are of {runs} runs together"));
    }
    let mut title = session.label.clone();
    if !facts.is_empty() {
        title += &format!(": {}", facts.join("; "));
    }
    line(out, &title)?;
    for sentence in session.remarks() {
        line(out, sentence)?;
    }
    Ok(())
}

/// By how much the self times of the shown rows differ between the runs.
fn spreads(out: &mut impl Write, session: &Session, rows: &Rows<'_>) -> Result<()> {
    if session.runs.len() < 2 {
        return Ok(());
    }
    let runs: Vec<RowsByName<'_>> = session.runs.iter().map(RowsByName::of).collect();
    let with_spread = |row: &&CallsiteReport| {
        let spread = percent(spread(&runs, row)?);
        Some(format!("{} ± {spread}", path(row)))
    };
    let spreads: Vec<String> = rows.shown.iter().filter_map(with_spread).collect();
    if !spreads.is_empty() {
        let spreads = spreads.join(", ");
        let text = format!("self times of the runs, ± half their range: {spreads}");
        line(out, &text)?;
    }
    Ok(())
}

/// Half the range of the self times of the runs, as a share of their median.
fn spread(runs: &[RowsByName<'_>], row: &CallsiteReport) -> Option<f64> {
    let of_run = |run: &RowsByName<'_>| run.same(row).map(CallsiteReport::self_on_cpu);
    let values: Vec<f64> = runs.iter().filter_map(of_run).collect();
    let middle = statistics::median(&values).filter(|&middle| middle > 0.0 && values.len() > 1)?;
    let (least, greatest) = statistics::range(&values);
    Some((greatest - least) / 2.0 / middle)
}

/// Prints a session that was just measured.
///
/// # Errors
/// Those of [`print`].
pub fn print_from(folder: &Path, store: &Store, view: &View) -> Result<()> {
    let mut session = session::load(Some(folder), store)?;
    session.label = name_of(folder);
    print(&session, None, view)
}
