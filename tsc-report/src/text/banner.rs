//! The dump's first lines: the machine, the overhead that was subtracted, and whatever makes the figures doubtful.

use std::fmt;

use super::scale::Scale;
use super::style::Style;
use super::tick_clock;
use crate::{Clock, Report};

pub(super) fn write(
    out: &mut dyn fmt::Write,
    report: &Report,
    scale: &Scale,
    width: usize,
    style: &Style,
) -> fmt::Result {
    let clock = &report.clock;
    let machine = fitting(&machine(clock), width);
    writeln!(out, "{}", style.dim(&machine))?;
    let probes = fitting(&probes(clock, scale), width);
    writeln!(out, "{}", style.dim(&probes))?;
    if let Some(cost) = tick_clock::cost(report) {
        let line = cut(format!("tsc: {cost}"), width);
        writeln!(out, "{}", style.dim(&line))?;
    }
    for warning in &clock.warnings {
        let line = cut(format!("tsc: {warning}"), width);
        writeln!(out, "{}", style.bad(&line))?;
    }
    for doubt in doubts(clock).into_iter().chain(tick_clock::doubt(report)) {
        let line = cut(format!("tsc: {doubt}"), width);
        writeln!(out, "{}", style.doubtful(&line))?;
    }
    Ok(())
}

/// The machine and its counter, in the order of importance.
fn machine(clock: &Clock) -> Vec<String> {
    let hypervisor = clock
        .hypervisor
        .as_ref()
        .map(|name| format!(" under {name}"));
    let cpu = clock.cpu.as_deref().unwrap_or("unknown CPU");
    let mut parts = vec![format!("{cpu}{}", hypervisor.unwrap_or_default())];
    parts.push(match (clock.hz, clock.ppm) {
        (Some(hz), Some(ppm)) => format!("{} {:.3} MHz ± {ppm:.1} ppm", clock.source, hz / 1e6),
        _ => format!("{} at an unknown rate", clock.source),
    });
    if clock.invariant == Some(false) {
        parts.push("not invariant".to_owned());
    }
    if clock.resolution_ticks > 1 {
        parts.push(format!("in steps of {}", clock.resolution_ticks));
    }
    if let Some(other) = clock
        .clocksource
        .as_deref()
        .filter(|&source| source != "tsc")
    {
        parts.push(format!("clocksource {other}"));
    }
    if let Some(cpu) = clock.pinned_cpu {
        parts.push(format!("pinned to CPU {cpu}"));
    }
    parts
}

/// The overhead that was subtracted, and the number of core cycles in a tick.
fn probes(clock: &Clock, scale: &Scale) -> Vec<String> {
    let mut parts: Vec<String> = scale.remark.iter().cloned().collect();
    parts.extend(clock.overheads.iter().map(|overhead| {
        if overhead.total_ticks == 0.0 {
            return format!(
                "{} probe: its overhead is unknown here and not subtracted",
                overhead.fence
            );
        }
        format!(
            "{} probe: {:.1} ± {:.0} ticks inside a call, {:.1} outside, subtracted",
            overhead.fence,
            overhead.visible_ticks,
            overhead.visible_error_ticks,
            overhead.total_ticks - overhead.visible_ticks
        )
    }));
    if let Some(why) = &clock.fallback_reason {
        parts.insert(0, format!("not the TSC: {why}"));
    } else if let Some(ratio) = clock
        .core_cycles_per_tick
        .filter(|_| scale.unit == "ticks" && !clock.distrusted)
    {
        parts.push(format!("1 tick ≈ {ratio:.2} core cycles"));
    }
    if parts.is_empty() {
        parts.push("no fence was used".to_owned());
    }
    parts
}

/// A line for each reason to doubt the figures.
fn doubts(clock: &Clock) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(why) = &clock.no_interruptions_because {
        lines.push(format!("interruptions: not detected here: {why}"));
        lines.push("on the CPU, blocked, waiting: unknown; all ticks are wall time".to_owned());
    }
    if let Some(why) = &clock.no_on_cpu_because {
        lines.push(format!(
            "on the CPU: unknown of interrupted calls, which count with their wall time: {why}"
        ));
    }
    if !clock.doubtful.is_empty() {
        let names: Vec<&str> = clock
            .doubtful
            .iter()
            .map(|doubt| doubt.split(':').next().unwrap_or(doubt))
            .collect();
        lines.push(format!(
            "doubtful: {}; TSC_REPORT=full says why and what to do",
            names.join(", ")
        ));
    }
    lines
}

/// Joins as many parts as fit into a line.
fn fitting(parts: &[String], width: usize) -> String {
    let mut line = "tsc: ".to_owned();
    for (index, part) in parts.iter().enumerate() {
        let separator = if index == 0 { "" } else { "; " };
        let columns = line.chars().count() + separator.len() + part.chars().count();
        if index != 0 && columns > width {
            continue;
        }
        line += separator;
        line += part;
    }
    cut(line, width)
}

/// Cuts the line at the terminal's width.
fn cut(line: String, width: usize) -> String {
    match line.char_indices().nth(width) {
        None => line,
        Some(_) => line.chars().take(width - 1).chain(['…']).collect(),
    }
}
