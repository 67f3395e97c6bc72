//! The lines about the machine: the CPU and its counter, the overhead that was subtracted, and whatever makes the figures doubtful.

use super::notes::paragraph;
use super::scale::Scale;
use super::style::{BAD, DIM, DOUBTFUL};
use super::tick_clock;
use super::{Page, escaped};
use crate::{Clock, TextForm};

/// What is doubtful on most machines: `full` says why.
const USUAL: [&str; 6] = [
    "hypervisor",
    "placement",
    "governor",
    "boost",
    "SMT",
    "kernel's clock",
];

/// What makes the figures useless stands above the table.
pub(super) fn warnings(page: &Page<'_>) -> impl Iterator<Item = String> {
    let warnings = page.report.clock.warnings.iter();
    warnings.flat_map(|warning| styled(page, BAD, warning))
}

pub(super) fn lines(page: &Page<'_>) -> Vec<String> {
    let (clock, is_full) = (&page.report.clock, page.options.form == TextForm::Full);
    let facts = [
        machine(clock, is_full),
        probes(clock, &page.scale, is_full),
        tick_clock::cost(page.report).into_iter().collect(),
    ];
    let facts = facts.iter().filter(|parts| !parts.is_empty());
    let facts = facts.flat_map(|parts| joined(parts, page.options.width));
    let facts = facts.map(|line| page.styled(DIM, &line));
    let doubts = doubts(page).into_iter();
    let doubts = doubts.flat_map(|doubt| styled(page, DOUBTFUL, &doubt));
    doubts.chain(facts).collect()
}

fn styled(page: &Page<'_>, style: &str, text: &str) -> Vec<String> {
    let lines = paragraph(&escaped(text), page.options.width);
    lines.iter().map(|line| page.styled(style, line)).collect()
}

/// The machine and its counter, in the order of importance. The full form also says what is as usual.
fn machine(clock: &Clock, is_full: bool) -> Vec<String> {
    let hypervisor = clock.hypervisor.as_ref();
    let under = hypervisor.map_or(String::new(), |name| format!(" under {name}"));
    let cpu = clock.cpu.as_deref().unwrap_or("unknown CPU");
    let rate = match (clock.hz, clock.ppm) {
        (Some(hz), Some(ppm)) => {
            let at_most = (ppm * 10.0).ceil() / 10.0; // a bound is never less, and not 0
            format!("{} {:.3} MHz ± {at_most:.1} ppm", clock.source, hz / 1e6)
        }
        _ => format!("{} at an unknown rate", clock.source),
    };
    let mut parts = vec![format!("{cpu}{under}"), rate];
    let mut add = |is_unusual, part: String| parts.extend((is_full || is_unusual).then_some(part));
    let invariant = match clock.invariant {
        Some(false) => "not invariant",
        Some(true) => "invariant",
        None => "invariance unknown",
    };
    add(clock.invariant == Some(false), invariant.to_owned());
    let step = clock.resolution_ticks;
    add(step > 1, format!("in steps of {step}"));
    let source = clock.clocksource.as_deref().unwrap_or("unknown");
    let is_unusual = !["tsc", "arch_sys_counter", "unknown"].contains(&source);
    add(is_unusual, format!("clocksource {source}"));
    let pinned = clock.pinned_cpu.map(|cpu| format!("pinned to CPU {cpu}"));
    add(pinned.is_some(), pinned.unwrap_or("not pinned".to_owned()));
    parts
}

/// The overhead that was subtracted, and the number of core cycles in a tick.
fn probes(clock: &Clock, scale: &Scale, is_full: bool) -> Vec<String> {
    let mut parts: Vec<String> = scale.remark.iter().cloned().collect();
    parts.extend(clock.overheads.iter().map(|overhead| {
        let fence = &overhead.fence;
        if overhead.total_ticks == 0.0 {
            return format!("{fence} probe: its overhead is unknown here and not subtracted");
        }
        format!(
            "{fence} probe: {:.1} ± {:.0} {} in a call, {:.0} ± {:.0} in all, subtracted",
            overhead.visible_ticks,
            overhead.visible_error_ticks,
            clock.unit(),
            overhead.total_ticks,
            overhead.total_error_ticks
        )
    }));
    if let Some(why) = &clock.fallback_reason {
        parts.insert(0, format!("not the TSC: {why}"));
    } else if scale.unit != Some("core cycles") && !clock.distrusted {
        parts.extend(core_clock(clock, is_full));
    }
    parts
}

fn core_clock(clock: &Clock, is_full: bool) -> Option<String> {
    let ratio = clock.core_cycles_per_tick?;
    let mut text = format!("1 tick ≈ {ratio:.2} core cycles");
    if is_full {
        let ghz = |ratio: Option<f64>| Some(ratio? * clock.hz? / 1e9);
        text += &format!(
            ": the core's clock was {:.2} GHz (range {:.2}..{:.2}, by {})",
            ghz(Some(ratio))?,
            ghz(clock.core_cycles_per_tick_min)?,
            ghz(clock.core_cycles_per_tick_max)?,
            clock.core_cycles_source.as_ref()?
        );
    }
    Some(text)
}

/// A line for each reason to doubt the figures. The full form also has the usual ones, and says what to do.
fn doubts(page: &Page<'_>) -> Vec<String> {
    let (report, options, clock) = (page.report, &page.options, &page.report.clock);
    let undetected = clock.no_interruptions_because.as_ref();
    let is_unsplit = report.callsites.iter().any(|row| row.sums.unsplit != 0);
    let unknown = [
        undetected.map(|why| format!("interruptions: not detected here: {why}")),
        undetected.map(|_| {
            "on the CPU, blocked, waiting: unknown; all ticks are wall time".to_owned()
        }),
        clock.no_on_cpu_because.as_ref().map(|why| {
            format!(
                "on the CPU: unknown of interrupted calls, which count with their wall time: {why}"
            )
        }),
        is_unsplit.then(|| {
            "blocked is with waiting for a CPU: /proc/thread-self/schedstat cannot be read here, or not on every thread"
                .to_owned()
        }),
        tick_clock::doubt(report),
    ];
    let mut lines: Vec<String> = unknown.into_iter().flatten().collect();
    let doubts = clock.doubtful.iter();
    if options.form == TextForm::Full {
        lines.extend(doubts.map(|doubt| format!("doubtful: {doubt}")));
        return lines;
    }
    let names = doubts.map(|doubt| doubt.split(':').next().unwrap_or(doubt));
    let unusual: Vec<&str> = names.filter(|name| !USUAL.contains(name)).collect();
    if !unusual.is_empty() {
        let full = options.name_of("TSC_REPORT=full", "--full");
        let names = unusual.join(", ");
        lines.push(format!("doubtful: {names}; {full} says why and what to do"));
    }
    lines
}

/// Joins the parts to as few lines as they fit into.
pub(super) fn joined(parts: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        let start = if lines.is_empty() { "tsc: " } else { "     " };
        match lines.last_mut() {
            Some(line) if format!("{line}; {part}").chars().count() <= width => {
                *line += &format!("; {part}");
            }
            _ => lines.push(format!("{start}{part}")),
        }
    }
    lines.iter().map(|line| cut(line, width)).collect()
}

/// Cuts the line at the terminal's width. Its texts may be any, because the report may be from elsewhere.
fn cut(line: &str, width: usize) -> String {
    let line = escaped(line);
    // Names may have letters that take two columns. Which ones do, depends on the terminal.
    let columns = |letter: char| if letter < '\u{2e80}' { 1 } else { 2 };
    if line.chars().map(columns).sum::<usize>() <= width {
        return line;
    }
    let mut used = 2;
    let kept = line.chars().take_while(|&letter| {
        used += columns(letter);
        used <= width
    });
    kept.chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::joined;
    use crate::{CallsiteReport, Clock, FenceOverhead, Report, TextForm, TextOptions};

    #[test]
    fn what_does_not_fit_into_a_line_has_another_one() {
        let parts =
            ["server took 1.20s", "blocked 3ms", "waiting for a CPU 2ms"].map(str::to_owned);
        let lines = |width| joined(&parts, width);
        let all = "tsc: server took 1.20s; blocked 3ms; waiting for a CPU 2ms";
        assert_eq!(lines(all.len()), [all]);
        let two = [
            "tsc: server took 1.20s; blocked 3ms",
            "     waiting for a CPU 2ms",
        ];
        assert_eq!(lines(all.len() - 1), two);
        assert_eq!(lines(12), ["tsc: serve…", "     block…", "     waiti…"]);
    }

    #[test]
    fn texts_of_a_foreign_clock_cannot_touch_the_terminal() {
        let text = || "a\n:CLK: b\x1b[2J".to_owned();
        let clock = Clock {
            source: text(),
            fallback_reason: Some(text()),
            hypervisor: Some(text()),
            cpu: Some(text()),
            clocksource: Some(text()),
            no_interruptions_because: Some(text()),
            no_on_cpu_because: Some(text()),
            core_cycles_source: Some(text()),
            overheads: vec![FenceOverhead {
                fence: text(),
                ..FenceOverhead::default()
            }],
            warnings: vec![text()],
            doubtful: vec![text()],
            ..Clock::default()
        };
        let report = Report {
            clock,
            callsites: vec![CallsiteReport::default()],
            ..Report::default()
        };
        for form in [TextForm::Short, TextForm::Full] {
            let dump = report.to_text(&TextOptions::default().form(form));
            assert!(
                !dump.contains("\n:CLK: b") && !dump.contains('\x1b'),
                "{dump}"
            );
            assert!(dump.contains(r"a\n:CLK: b\u{1b}[2J"), "{dump}");
        }
    }
}
