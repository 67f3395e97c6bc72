//! The lines below a row: what the user has asked for besides the columns, and one remark where it changes what the reader does next.

use super::columns::found;
use super::names::{end_of_characters, escaped};
use super::scale::{Scale, count, scaled};
use super::{Page, TextForm};
use crate::data::saturating_sum;
use crate::{CallsiteReport, EventCount, Report, ThreadReport};

/// A remark is made of long and rare calls that are more than this share of the total, and of calls that ticks could not find.
const NOTED_SHARE: f64 = 0.25;
/// A single call is worth a remark if it is more than this share of all self ticks.
const NOTICEABLE: f64 = 0.01;
/// At most this many threads of a row are shown.
const THREADS: usize = 8;
const INDENT: &str = "        ";

/// The lines. The full form has all remarks, the others one at most.
pub(super) fn lines(page: &Page<'_>, row: &CallsiteReport) -> Vec<String> {
    let (scale, options) = (&page.scale, &page.options);
    let asked_for = [
        page.names.note(row),
        throughput(row, scale),
        futures(row, scale),
        events(row),
    ];
    let mut notes: Vec<String> = asked_for.into_iter().flatten().collect();
    let is_full = options.form == TextForm::Full;
    let most = if is_full { usize::MAX } else { 1 };
    notes.extend(remarks(page, row).into_iter().take(most));
    let mut lines = wrapped(&notes.join("; "), options.width);
    for thread in threads(row, scale) {
        lines.extend(wrapped(&thread, options.width));
    }
    lines
}

/// A line for each of the threads with the most self ticks, and the number of the others.
fn threads(row: &CallsiteReport, scale: &Scale) -> Vec<String> {
    let line = |thread: &ThreadReport| {
        let name = escaped(thread.name.as_deref().unwrap_or("(no name)"));
        let many = match thread.threads {
            0 | 1 => String::new(),
            many => format!(" × {many}"),
        };
        let on_cpu = thread.on_cpu_ticks.filter(|&on| on != thread.total_ticks);
        let on_cpu = on_cpu.map(|on| format!(", {} on the CPU", scale.figure(on.to_f64())));
        let on_cpu = on_cpu.unwrap_or_default();
        // As in the row's column.
        let own = thread.self_on_cpu_ticks.unwrap_or(thread.self_ticks);
        format!(
            "thread {name}{many}: {}, self {}, total {}{on_cpu}",
            calls(thread.calls),
            scale.figure(own.to_f64()),
            scale.figure(thread.total_ticks())
        )
    };
    let mut lines: Vec<String> = row.thread_rows.iter().take(THREADS).map(line).collect();
    let left = row.thread_rows.len() - lines.len();
    if left != 0 {
        lines.push(format!("and {}", several(left as u64, "more thread name")));
    }
    lines
}

/// The text in lines of the report: the first one begins with its mark.
pub(super) fn paragraph(text: &str, width: usize) -> Vec<String> {
    let mut lines = wrapped(text, width);
    if let Some(first) = lines.first_mut() {
        first.replace_range(..INDENT.len(), "tsc: ");
    }
    lines
}

/// The text in lines of at most `width` columns, broken between words. No character takes more columns than bytes.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= width => *line += &format!(" {word}"),
            _ => lines.push(format!("{INDENT}{word}")),
        }
        // A word that is longer than the line is cut where the line ends.
        while let Some(line) = lines.last_mut().filter(|line| line.len() > width) {
            let rest = line.split_off(end_of_characters(line, width));
            lines.push(format!("{INDENT}{rest}"));
        }
    }
    lines
}

fn throughput(row: &CallsiteReport, scale: &Scale) -> Option<String> {
    let unit = escaped(row.unit.as_deref()?);
    let per_unit = found(row, row.ticks_per_unit)?;
    let one = unit.trim_end_matches('s');
    let each = format!("{} per {one}", scale.figure(per_unit));
    Some(match row.units_per_second {
        Some(rate) if unit == "bytes" => format!("{each}, {}B/s", scaled(rate)),
        Some(rate) => format!("{each}, {}{unit}/s", scaled(rate)),
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
    let events = row.events.iter().filter(|event| event.calls != 0);
    let counted: Vec<String> = events.map(counted).collect();
    let of = if row.polls.is_some() { "poll" } else { "call" };
    (!counted.is_empty()).then(|| format!("per {of}: {}", counted.join(", ")))
}

fn futures(row: &CallsiteReport, scale: &Scale) -> Option<String> {
    let (polls, cancelled) = (row.polls?, row.cancelled?);
    let ended = saturating_sum([row.calls, cancelled]);
    if ended == 0 {
        return Some(format!(
            "async: {}, no call has ended",
            several(polls, "poll")
        ));
    }
    let each = polls as f64 / ended as f64;
    let mut note = format!("async: {each:.1} polls a call");
    if let Some(wall) = row.wall_mean_ticks {
        note += &format!(", {} from first poll to completion", scale.figure(wall));
    }
    if cancelled != 0 {
        note += &format!(", {cancelled} dropped before completion");
    }
    Some(note)
}

/// What the figures do not say, the gravest first.
fn remarks(page: &Page<'_>, row: &CallsiteReport) -> Vec<String> {
    const ITERATOR: &str =
        "returns an iterator, whose work is done, and counted, where it is consumed";
    let mut remarks = uncounted(page.report, row);
    remarks.extend(row.returns_iterator.then(|| ITERATOR.to_owned()));
    remarks.extend(long_and_rare(page, row));
    remarks
}

/// How many calls took how much longer than the others, where they are much of the total.
fn long_and_rare(page: &Page<'_>, row: &CallsiteReport) -> Option<String> {
    let full = page.options.name_of("TSC_REPORT=full", "--full");
    // So that it is longer than four times the mean of the others.
    let least = NOTED_SHARE.max(4.0 / (row.calls as f64 + 3.0)) * row.total_ticks;
    // The calls of an async function are kept by their time until completion, which is no part of the total. Those of a recursion contain others.
    let is_of_total = row.polls.is_none() && row.sums.inner == 0;
    let longest = row.slowest.first().map(|call| call.ticks.to_f64());
    let range = least.max(NOTICEABLE * page.rows.self_sum)..row.total_ticks;
    if let Some(ticks) = longest.filter(|ticks| is_of_total && range.contains(ticks)) {
        return Some(format!(
            "one call took {}, {:.0} % of the total: see {full}",
            page.scale.figure(ticks),
            ticks / row.total_ticks * 100.0
        ));
    }
    let is_noted = |&share: &f64| share > NOTED_SHARE && !row.is_below_resolution();
    let share = row.outlier_excess_share.filter(is_noted)?;
    let excess = row.outlier_excess_mean_ticks? * row.samples as f64;
    let blocked = row.on_cpu_ticks.map_or(0.0, |on| row.total_ticks - on);
    let how = if blocked > excess / 2.0 {
        full
    } else {
        // What the command line builds counts no events, unless the program asks for that.
        page.options.name_of("TSC_EVENTS=page-faults", "--full")
    };
    Some(format!(
        "{} of about {}{} took {:.0} % of the total: see {how}",
        calls(row.outliers),
        page.scale.figure(excess / row.outliers as f64),
        if row.outliers == 1 { "" } else { " each" },
        share * 100.0
    ))
}

/// Calls that are missing from the figures, and those that the figures know only in part.
fn uncounted(report: &Report, row: &CallsiteReport) -> Vec<String> {
    // Where none can be detected, the banner has said so.
    let is_detected = report.clock.no_interruptions_because.is_none();
    let unknown = if is_detected { row.unknown } else { 0 };
    let counted = [
        (
            unknown,
            "may have been interrupted unnoticed: another library used rseq, or the thread was ending",
        ),
        (row.running, "still running, not in the figures"),
        (
            row.anomalies,
            "not measured: the counter went backwards, or a section was never stopped",
        ),
        (
            row.saturated,
            "of over 30 hours, or during which the counter stepped: quantiles end at 30 hours",
        ),
    ];
    let counted = counted.into_iter().filter(|(number, _)| *number != 0);
    let note = |(number, what)| format!("{} {what}", calls(number));
    let mut notes: Vec<String> = counted.map(note).collect();
    let sums = &row.sums;
    let unlinked = sums.probes().saturating_sub(sums.linked);
    let by_calls = sums.gross() as f64 - sums.inner_gross as f64 + sums.off as f64;
    let by_ticks = sums.ticked as f64 + sums.ticked_off as f64;
    let is_much = unlinked > sums.probes() / 50 || by_ticks < by_calls * (1.0 - NOTED_SHARE);
    if row.is_by_ticks() && !row.is_light() && unlinked != 0 && is_much {
        let what = if sums.polls == 0 { "call" } else { "poll" };
        notes.push(format!(
            "{} before the first light call, not in the times",
            several(unlinked, what)
        ));
    }
    if !row.fence_supported {
        let fence = escaped(&row.fence);
        notes.push(format!("this CPU has no {fence}: measured with lfence"));
    }
    notes
}

pub(super) fn calls(number: u64) -> String {
    several(number, "call")
}

pub(super) fn several(number: u64, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        many => format!("{} {what}s", count(many)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::WholeTicks;
    use crate::{SlowCall, TextOptions, TextUnit};

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
    fn polls_of_calls_that_have_not_ended_are_not_those_of_one_call() {
        let note = |cancelled| {
            let row = CallsiteReport {
                polls: Some(8),
                cancelled: Some(cancelled),
                ..CallsiteReport::default()
            };
            futures(&row, &Scale::new(&Report::default().clock, TextUnit::Ticks))
        };
        assert_eq!(
            note(0).as_deref(),
            Some("async: 8 polls, no call has ended")
        );
        let dropped = "async: 2.0 polls a call, 4 dropped before completion";
        assert_eq!(note(4).as_deref(), Some(dropped));
    }

    #[test]
    fn calls_that_ticks_could_not_find_are_said() {
        let note_of = |linked, sum, ticked| {
            let mut row = CallsiteReport {
                fence_supported: true,
                ..CallsiteReport::default()
            };
            let sums = &mut row.sums;
            (sums.samples, sums.linked, sums.clock_ticks) = (100, linked, 1);
            (sums.sum, sums.ticked) = (sum, ticked);
            uncounted(&Report::default(), &row)
        };
        let note = |linked| note_of(linked, 0, 0);
        let said = "49 calls before the first light call, not in the times";
        assert_eq!(note(51), [said]);
        // A few are not worth a line, and if most are missing, the times are those of the calls.
        assert_eq!([note(98), note(49)], [[""; 0]; 2]);
        // Unless the few took long.
        let said = "1 call before the first light call, not in the times";
        assert_eq!(note_of(99, 2_000_000, 1_000_000), [said]);
        let few = [(99, 2_000_000, 1_900_000), (100, 2_000_000, 1_000_000)];
        let few = few.map(|(linked, sum, ticked)| note_of(linked, sum, ticked));
        assert_eq!(few, [[""; 0]; 2]);
    }

    #[test]
    fn one_call_that_took_most_is_not_called_several() {
        let outliers = std::cell::Cell::new(5);
        let is_command_line = std::cell::Cell::new(false);
        let remark_of = |longest, polls, calls, total_ticks| {
            let row = CallsiteReport {
                polls,
                total_ticks,
                calls,
                outlier_excess_share: Some(0.5),
                outlier_excess_mean_ticks: Some(500.0),
                samples: 1_000,
                outliers: outliers.get(),
                mean_ticks: Some(1000.0),
                slowest: vec![SlowCall {
                    ticks: WholeTicks(longest),
                    ..SlowCall::default()
                }],
                ..CallsiteReport::default()
            };
            let mut report = Report::default();
            report.callsites.push(CallsiteReport {
                self_ticks: 40_000_000.0,
                ..CallsiteReport::default()
            });
            let options = TextOptions::default().unit(TextUnit::Ticks);
            let options = options.command_line(is_command_line.get());
            long_and_rare(&Page::new(&report, options, &|_| true), &row)
        };
        let remark = |longest, polls| remark_of(longest, polls, 1_000, 1_000_000.0);
        assert_eq!(
            remark(110_000, None).as_deref(),
            Some(
                "5 calls of about 100000 ticks each took 50 % of the total: see TSC_EVENTS=page-faults"
            )
        );
        assert_eq!(
            remark(490_000, None).as_deref(),
            Some("one call took 490000 ticks, 49 % of the total: see TSC_REPORT=full")
        );
        // Of three calls; where more was subtracted than the calls took; and of a small part of the program.
        for (longest, calls, total) in [
            (490_000, 3, 1_000_000.0),
            (490, 1_000, -1_000.0),
            (390_000, 1_000, 1_000_000.0),
        ] {
            let few = remark_of(longest, None, calls, total).unwrap();
            assert!(few.starts_with("5 calls of about "), "{few}");
        }
        is_command_line.set(true);
        let said = remark(110_000, None).unwrap();
        assert!(said.ends_with("50 % of the total: see --full"), "{said}");
        // Until completion.
        let future = remark(200_000_000, Some(10)).unwrap();
        assert!(future.starts_with("5 calls of about 100000"), "{future}");
        outliers.set(1);
        let future = remark(200_000_000, Some(10)).unwrap();
        let said = "1 call of about 500000 ticks took 50 % of the total: ";
        assert!(future.starts_with(said), "{future}");
    }

    #[test]
    fn lines_are_no_longer_than_the_terminal() {
        for width in [80, 81, 100] {
            let words = format!(
                "some words {} and then {}",
                "x".repeat(300),
                "several more ".repeat(20)
            );
            let lines = wrapped(&words, width);
            let text = lines.join("\n");
            assert!(
                lines.iter().all(|line| line.chars().count() <= width),
                "{text}"
            );
            assert_eq!(text.replace(['\n', ' '], ""), words.replace(' ', ""));
        }
    }
}
