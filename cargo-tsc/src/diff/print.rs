//! Prints a comparison as a table, as Markdown or as JSON.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use anyhow::Result;

use super::{Comparison, Difference, Row, Verdict, known_change};
use crate::command_line::Judgement;
use crate::escape::{escaped, line, markdown};
use crate::output;
use crate::progress::remark;
use crate::rows::{maybe, percent};
use crate::session::Session;
use crate::table::{self, Cell, Table};

/// Why a row has no figure of the metric.
pub const NOT_TIMED: &str = "their single calls are not timed, as with light probes, or are all a thread's first (--metric self and total are known)";

/// Prints a difference, and the verdict of the gate below it.
///
/// # Errors
/// If the output cannot be written.
pub fn print(
    before: &Session,
    after: &Session,
    difference: &Difference,
    gate: Option<&str>,
    judgement: &Judgement,
) -> Result<()> {
    if judgement.json {
        return output::print_json(&serde_json::json!({
            "before": before.label,
            "after": after.label,
            "objections": difference.objections,
            "comparison": difference.comparison,
            "gate": gate,
        }));
    }
    let mut out = output::styled_stdout();
    if let Some(comparison) = &difference.comparison {
        let summary = summary(before, after, comparison);
        print_rows(&mut out, &summary, comparison, judgement.markdown)?;
    }
    if let Some(verdict) = gate {
        let text = escaped(&format!("gate: {verdict}"));
        let is_markdown = judgement.markdown;
        writeln!(out, "{}", if is_markdown { markdown(&text) } else { text })?;
    }
    Ok(())
}

fn print_rows(
    out: &mut impl Write,
    summary: &str,
    comparison: &Comparison,
    is_markdown: bool,
) -> Result<()> {
    let table = rows(comparison).without_unknown();
    if is_markdown {
        writeln!(out, "### {}\n", markdown(&escaped(summary)))?;
        writeln!(out, "{}", table.to_markdown())?;
    } else {
        line(out, summary)?;
        if !table.is_empty() {
            write!(out, "{}", table.to_text(table::width()))?;
        }
    }
    notes(comparison).iter().for_each(|note| remark(note));
    Ok(())
}

/// How many rows have each verdict, in words.
pub(super) fn counts(comparison: &Comparison) -> Vec<String> {
    let (slower, faster) = slower_and_faster(comparison.exact);
    let words = [
        (Verdict::Slower, slower),
        (Verdict::Faster, faster),
        (Verdict::Layout, "layout"),
        (Verdict::NoChange, "without change"),
        (Verdict::NotResolved, "not resolved"),
        (Verdict::Varies, "not the same in each run"),
        (Verdict::NotPositive, "not judged"),
        (Verdict::New, "new"),
        (Verdict::Gone, "gone"),
    ];
    let counted = words.map(|(verdict, word)| (comparison.with(verdict).count(), word));
    let counted = counted.into_iter().filter(|&(count, _)| count > 0);
    counted
        .map(|(count, word)| format!("{count} {word}"))
        .collect()
}

/// A summary of all rows in one line.
fn summary(before: &Session, after: &Session, comparison: &Comparison) -> String {
    let mut parts = counts(comparison);
    if comparison.rows.is_empty() {
        parts.push("nothing to judge, because no function has this metric".to_owned());
    } else if parts.is_empty() {
        parts.push("nothing to judge".to_owned());
    }
    let (old, new) = comparison.runs;
    let how = match (comparison.interleaved, comparison.orders) {
        (true, 1) => format!("{new} runs a side in turns"),
        (true, orders) => format!("{new} runs a side in turns, {orders} layouts in memory"),
        (false, _) => format!("{old} and {new} runs"),
    };
    let parts = parts.join(", ");
    format!("{} → {}: {parts} ({how})", before.label, after.label)
}

/// The rows that are judged.
fn shown(comparison: &Comparison) -> impl Iterator<Item = &Row> {
    let rows = comparison.rows.iter();
    rows.filter(|row| row.verdict.is_judged())
}

fn rows(comparison: &Comparison) -> Table {
    let mut table = Table::new([
        "function",
        "change",
        "95 % interval",
        "verdict",
        if comparison.exact { "count" } else { "ticks" },
        "would find",
        "share",
        "calls",
        "p",
    ]);
    let known =
        |text: Option<String>| Cell::from(text.unwrap_or_else(|| table::UNKNOWN.to_owned()));
    let at_least = |change| format!("≥ {}", percent(change));
    let between = |(low, high)| format!("{} … {}", change(low), change(high));
    for row in shown(comparison) {
        table.push([
            row.name.clone().into(),
            known(row.ratio.map(change)),
            known(row.interval.map(between)),
            verdict(row, comparison.exact),
            both([row.before, row.after].map(maybe)).into(),
            known(row.visible.and_then(known_change).map(at_least)),
            percent(row.share.0.max(row.share.1)).into(),
            both([row.calls.0, row.calls.1].map(|calls| calls.to_string())).into(),
            known(row.p.map(|p| format!("{p:.3}"))),
        ]);
    }
    table
}

fn change(ratio: f64) -> String {
    if ratio < 2.0 {
        // Without the sign of a change that is rounded to zero.
        format!("{:+.1} %", (ratio - 1.0) * 100.0).replace("-0.0", "+0.0")
    } else {
        format!("×{ratio:.2}")
    }
}

/// The words for the two changes: a count becomes no faster, but less.
pub const fn slower_and_faster(exact: bool) -> (&'static str, &'static str) {
    if exact {
        ("more", "fewer")
    } else {
        ("slower", "faster")
    }
}

fn verdict(row: &Row, exact: bool) -> Cell {
    let (slower, faster) = slower_and_faster(exact);
    let (text, style) = match row.verdict {
        Verdict::Slower => (slower, AnsiColor::Red.on_default().bold()),
        Verdict::Faster => (faster, AnsiColor::Green.on_default().bold()),
        Verdict::Layout => ("layout", AnsiColor::Yellow.on_default()),
        Verdict::NoChange => ("no change", Style::new()),
        Verdict::New => ("new", AnsiColor::Yellow.on_default()),
        Verdict::Gone => ("gone", AnsiColor::Yellow.on_default()),
        Verdict::Varies => ("varies", Style::new().dimmed()),
        Verdict::NotPositive => ("not judged", AnsiColor::Yellow.on_default()),
        _ => ("not resolved", Style::new().dimmed()),
    };
    Cell::styled(text, style)
}

/// A figure before and after.
fn both([before, after]: [String; 2]) -> String {
    match before == after {
        true => before,
        false => format!("{before} → {after}"),
    }
}

/// What the table does not say.
fn notes(comparison: &Comparison) -> Vec<String> {
    let mut notes = not_judged(comparison);
    if comparison.exact {
        return notes;
    }
    if let Some(note) = comparison.too_few() {
        notes.push(note);
        return notes;
    }
    notes.extend(control(comparison));
    if let Some((row, visible)) = comparison.least_visible() {
        let found = match known_change(visible) {
            Some(visible) => format!("{} would have been found", percent(visible)),
            None => "not even ×10 would have been found".to_owned(),
        };
        notes.push(format!(
            "not resolved: these runs cannot tell; {found} in {}; more runs would show smaller changes",
            row.name
        ));
    }
    notes.extend(shown(comparison).flat_map(of_row));
    if comparison.with(Verdict::Layout).count() > 0 {
        notes.push("layout: such a change also comes from the layout in memory alone".to_owned());
    }
    if !comparison.interleaved {
        notes.push(format!(
            "not measured in turns: the machine itself may have changed by {}, by which each interval is wider, and the functions may lie elsewhere in memory; `cargo tsc ab` tells",
            percent(comparison.machine.exp_m1())
        ));
    }
    notes
}

/// Why rows are not judged.
fn not_judged(comparison: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    let small = comparison.with(Verdict::TooSmall).count();
    if small > 0 {
        let why = match comparison.exact {
            true => "their counts are unknown, or 0 on both sides",
            false => {
                "they are too small a part of the run (--min-share, or 100 µs if not in turns)"
            }
        };
        notes.push(format!("not judged, because {why}: {small}"));
    }
    let not_timed = comparison.with(Verdict::NotTimed).count();
    if not_timed > 0 {
        notes.push(format!("not judged, because {NOT_TIMED}: {not_timed}"));
    }
    notes.extend(comparison.with(Verdict::NotPositive).map(|row| {
        format!(
            "not judged, because in some run it was not called, or has no time above 0 (the error, or what its probes cost, is as large): {}",
            row.name
        )
    }));
    if comparison.with(Verdict::Varies).count() > 0 {
        let text = "a count that is not the same in each run of the same code is not judged";
        notes.push(text.to_owned());
    }
    notes
}

/// By how much the same code differs, if a row was judged.
fn control(comparison: &Comparison) -> Option<String> {
    let [all, shortest] = comparison.same_code;
    let most = all?;
    let of_shortest = |most| format!(", the shortest of its calls by {}", percent(most));
    let mut control = format!(
        "the same code differs by up to {} between runs{}: only a larger change counts as slower or faster",
        percent(most),
        shortest.map(of_shortest).unwrap_or_default()
    );
    let of_row = |row: &Row| Some((row.same_code?, row.name.clone()));
    let greatest = comparison.rows.iter().filter_map(of_row);
    let greatest = greatest.max_by(|(a, _), (b, _)| a.total_cmp(b));
    if let Some((own, name)) = greatest.filter(|(own, _)| *own > most) {
        control += &format!(
            "; a row that varies more must change by more than that, {} in {name}",
            percent(own)
        );
    }
    Some(control)
}

/// What the row's own cells do not say of it.
fn of_row(row: &Row) -> Vec<String> {
    let shortest = row.shortest.map(|(share, ratio)| {
        format!(
            "{}: the verdict is from the shortest {:.0} % of its calls, {}; the row shows all of them, which vary too much to tell",
            row.name,
            share * 100.0,
            change(ratio)
        )
    });
    let mut notes = Vec::from_iter(shortest);
    for (modes, side) in row.modes.iter().zip(["before", "after"]) {
        if let Some([(low, few), (high, many)]) = modes {
            let [low, high] = [low, high].map(|ticks| maybe(Some(*ticks)));
            notes.push(format!(
                "two modes {side}: {low} in {few} runs, {high} in {many}: {}",
                row.name
            ));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_nothing_was_judged_nothing_is_said_of_the_same_code() {
        let of = |same_code| {
            control(&Comparison {
                same_code,
                ..Comparison::default()
            })
        };
        assert_eq!(of([None, None]), None);
        assert!(of([Some(0.01), None]).unwrap().contains(
            "by up to 1.0 % between runs: only a larger change counts as slower or faster"
        ));
    }

    #[test]
    fn change_that_rounds_to_nothing_has_no_sign_of_a_gain() {
        let texts = [0.9998, 1.0, 0.899, 1.5, 2.5].map(change);
        assert_eq!(texts, ["+0.0 %", "+0.0 %", "-10.1 %", "+50.0 %", "×2.50"]);
    }
}
