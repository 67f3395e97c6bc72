//! The remarks below a row, where something changes how its figures are to be understood.

use std::fmt;

use super::names::{Names, escaped};
use super::off_cpu::off_cpu;
use super::scale::Scale;
use crate::data::saturating_sum;
use crate::{CallsiteReport, EventCount, Report, ThreadReport};

/// A remark is made of interrupted calls or outliers that are more than this share of the total.
const NOTED_SHARE: f64 = 0.05;
/// A remark is made of an error of the total that is more than this share of it.
const NOTED_ERROR: f64 = 0.1;
/// At most this many threads of a row are shown.
const THREADS: usize = 8;
const INDENT: &str = "        ";

pub(super) fn write(
    out: &mut dyn fmt::Write,
    report: &Report,
    row: &CallsiteReport,
    names: &Names,
    scale: &Scale,
    width: usize,
) -> fmt::Result {
    let mut notes: Vec<String> = names.note(row).map(str::to_owned).into_iter().collect();
    if row.returns_iterator {
        notes.push(
            "returns an iterator, whose work is done, and counted, where it is consumed".to_owned(),
        );
    }
    notes.extend(throughput(row, scale));
    notes.extend(futures(row, scale));
    notes.extend(off_cpu(row, &report.clock));
    notes.extend(events(row));
    notes.extend(interrupted(row));
    notes.extend(outliers(row));
    notes.extend(uncertain(row, scale));
    notes.extend(uncounted(report, row));
    write_wrapped(out, &notes.join("; "), width)?;
    for thread in threads(row, scale) {
        write_wrapped(out, &thread, width)?;
    }
    Ok(())
}

/// A line for each of the threads with the most self ticks, and the number of the others.
fn threads(row: &CallsiteReport, scale: &Scale) -> Vec<String> {
    let line = |thread: &ThreadReport| {
        let name = thread
            .name
            .as_deref()
            .map_or_else(|| "(no name)".to_owned(), escaped);
        let many = match thread.threads {
            0 | 1 => String::new(),
            many => format!(" × {many}"),
        };
        let on_cpu = match thread.on_cpu_ticks {
            Some(ticks) if ticks != thread.total_ticks => {
                format!(", {} on the CPU", scale.whole(ticks.to_f64()))
            }
            _ => String::new(),
        };
        format!(
            "thread {name}{many}: {} calls, self {}, total {}{on_cpu}",
            thread.calls,
            scale.whole(thread.self_ticks()),
            scale.whole(thread.total_ticks())
        )
    };
    let mut lines: Vec<String> = row.thread_rows.iter().take(THREADS).map(line).collect();
    if row.thread_rows.len() > THREADS {
        lines.push(format!(
            "and {} more thread names",
            row.thread_rows.len() - THREADS
        ));
    }
    lines
}

/// Writes the text in lines of at most `width` columns, broken between words.
pub(super) fn write_wrapped(out: &mut dyn fmt::Write, text: &str, width: usize) -> fmt::Result {
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let columns = INDENT.len() + line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && columns > width {
            writeln!(out, "{INDENT}{line}")?;
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        // A word that is longer than the line is cut where the line ends.
        while INDENT.len() + line.chars().count() > width {
            let end = line.char_indices().nth(width - INDENT.len());
            let rest = line.split_off(end.map_or(line.len(), |(end, _)| end));
            writeln!(out, "{INDENT}{line}")?;
            line = rest;
        }
    }
    if line.is_empty() {
        return Ok(());
    }
    writeln!(out, "{INDENT}{line}")
}

fn throughput(row: &CallsiteReport, scale: &Scale) -> Option<String> {
    let (unit, per_unit) = (escaped(row.unit.as_deref()?), row.ticks_per_unit?);
    let one = unit.trim_end_matches('s');
    let each = format!("{:.3} {}/{one}", scale.of(per_unit), scale.unit);
    Some(match row.units_per_second {
        Some(rate) if unit == "bytes" => format!("{each}, {:.3} GB/s", rate / 1e9),
        Some(rate) => format!("{each}, {:.3} M{unit}/s", rate / 1e6),
        None => each,
    })
}

fn events(row: &CallsiteReport) -> Option<String> {
    let counted = |event: &EventCount| {
        // Of a recursion, only the outermost calls are counted, with what happened in the calls inside them.
        let calls = saturating_sum([event.calls, row.sums.inner]);
        let each = event.count as f64 / calls as f64;
        let digits = if each.abs() < 10.0 { 3 } else { 1 };
        format!("{} {each:.digits$}", escaped(&event.event))
    };
    let counted: Vec<String> = row
        .events
        .iter()
        .filter(|event| event.calls != 0)
        .map(counted)
        .collect();
    (!counted.is_empty()).then(|| format!("per call: {}", counted.join(", ")))
}

fn futures(row: &CallsiteReport, scale: &Scale) -> Option<String> {
    let (polls, cancelled) = (row.polls?, row.cancelled?);
    let each = polls as f64 / saturating_sum([row.calls, cancelled]).max(1) as f64;
    let mut note = format!("async: {each:.1} polls a call");
    if let Some(wall) = row.wall_mean_ticks {
        note += &format!(
            ", {} {} from first poll to completion",
            scale.whole(wall),
            scale.unit
        );
    }
    if cancelled != 0 {
        note += &format!(", {cancelled} dropped before completion");
    }
    Some(note)
}

/// The interrupted calls that mean and quantiles leave out, where these calls are much of the total, or all there is to show.
fn interrupted(row: &CallsiteReport) -> Option<String> {
    let count = row.excluded.filter(|&count| count != 0)?;
    if count > row.samples {
        return Some(format!(
            "{count} of {} calls were interrupted; mean and quantiles include the cost of context switches",
            saturating_sum([count, row.samples])
        ));
    }
    let total = row.on_cpu_ticks.unwrap_or(row.total_ticks);
    let share = count as f64 * row.interrupted_mean_ticks? / total.max(1.0);
    (share > NOTED_SHARE).then(|| {
        format!(
            "{} interrupted, {:.0} % of the ticks on the CPU: left out of mean, quantiles, min and max",
            calls(count),
            share.min(1.0) * 100.0
        )
    })
}

/// The outliers' share of the total, where it is large, or larger than the error of the mean.
fn outliers(row: &CallsiteReport) -> Option<String> {
    let (share, of_mean) = (row.outlier_excess_share?, row.outlier_excess_mean_ticks?);
    let known_to = row.std_error_ticks.unwrap_or(0.0) + row.systematic_error_ticks.unwrap_or(0.0);
    (share > NOTED_SHARE || of_mean > known_to && share > NOTED_SHARE / 5.0).then(|| {
        format!(
            "outliers: {}, ≈ {:.1} % of the total, probably interrupts or the hypervisor",
            calls(row.outliers),
            share * 100.0
        )
    })
}

/// The error of the total, where it is large, and that of the self ticks, where it is larger still: in recursions.
fn uncertain(row: &CallsiteReport, scale: &Scale) -> Option<String> {
    // A row that is marked as too short says as much already, unless nested probes add to the error.
    if row.is_below_resolution() && row.sums.nested == 0 {
        return None;
    }
    let total = row.total_error_ticks?;
    let own = row.self_error_ticks.filter(|&own| own > 2.0 * total);
    let errors: Vec<String> = [
        large("total", row.total_ticks, Some(total), scale),
        large("self", row.self_ticks, own, scale),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!errors.is_empty()).then(|| {
        format!(
            "{}: probes may cost more or less here than when they were calibrated",
            errors.join(", ")
        )
    })
}

/// The error of a figure, if it is large.
fn large(what: &str, figure: f64, error: Option<f64>, scale: &Scale) -> Option<String> {
    let error = error.filter(|&error| error > NOTED_ERROR * figure.abs())?;
    Some(format!("{what} ± {} {}", scale.whole(error), scale.unit))
}

/// Calls that are missing from the figures, and those that the figures know only in part.
fn uncounted(report: &Report, row: &CallsiteReport) -> Vec<String> {
    let mut notes = Vec::new();
    // Where none can be detected, the banner has said so.
    if row.unknown != 0 && report.clock.no_interruptions_because.is_none() {
        notes.push(format!(
            "{} may have been interrupted unnoticed: another library used rseq, or the thread was ending",
            calls(row.unknown)
        ));
    }
    if row.running != 0 {
        notes.push(format!(
            "{} still running, not in the figures",
            calls(row.running)
        ));
    }
    if row.anomalies != 0 {
        notes.push(format!(
            "{} not measured: the counter went backwards, or a section was never stopped",
            calls(row.anomalies)
        ));
    }
    if row.saturated != 0 {
        notes.push(format!(
            "{} of over 30 hours, or during which the counter stepped: quantiles end at 30 hours",
            calls(row.saturated)
        ));
    }
    if !row.fence_supported {
        notes.push(format!(
            "this CPU has no {}: measured with lfence",
            escaped(&row.fence)
        ));
    }
    notes
}

fn calls(count: u64) -> String {
    match count {
        1 => "1 call".to_owned(),
        count => format!("{count} calls"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, TextUnit};

    #[test]
    fn events_of_a_recursion_are_per_call_and_not_per_outermost_call() {
        let note = |inner| {
            let mut row = CallsiteReport {
                events: vec![EventCount {
                    event: "page-faults".to_owned(),
                    calls: 2,
                    count: 600,
                }],
                ..CallsiteReport::default()
            };
            row.sums.inner = inner;
            events(&row)
        };
        assert_eq!(note(0).as_deref(), Some("per call: page-faults 300.0"));
        assert_eq!(note(198).as_deref(), Some("per call: page-faults 3.000"));
    }

    #[test]
    fn the_error_of_self_ticks_is_noted_in_recursions() {
        let scale = Scale::new(&Clock::default(), TextUnit::Ticks);
        let note_of = |total_error, self_error| {
            let row = CallsiteReport {
                total_ticks: 10_000.0,
                total_error_ticks: Some(total_error),
                self_ticks: 5_000.0,
                self_error_ticks: self_error,
                ..CallsiteReport::default()
            };
            uncertain(&row, &scale)
        };
        let note = |total_error, self_error| note_of(total_error, Some(self_error));
        let is = |errors: &str| {
            let because = "probes may cost more or less here than when they were calibrated";
            Some(format!("{errors}: {because}"))
        };
        assert_eq!(note(1_000.0, 500.0), None);
        assert_eq!(note(1_001.0, 1_500.0), is("total ± 1001 ticks"));
        assert_eq!(note(300.0, 700.0), is("self ± 700 ticks"));
        assert_eq!(note_of(1_001.0, None), is("total ± 1001 ticks"));
        let both = "total ± 1500 ticks, self ± 4000 ticks";
        assert_eq!(note(1_500.0, 4_000.0), is(both));
    }

    #[test]
    fn lines_are_no_longer_than_the_terminal() {
        for width in [80, 81, 100] {
            let mut text = String::new();
            let words = format!(
                "some words {} and then {}",
                "x".repeat(300),
                "several more ".repeat(20)
            );
            write_wrapped(&mut text, &words, width).unwrap();
            assert!(
                text.lines().all(|line| line.chars().count() <= width),
                "{text}"
            );
            assert_eq!(text.replace(['\n', ' '], ""), words.replace(' ', ""));
        }
    }
}
