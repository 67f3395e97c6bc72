//! What the dump says below a row, and below all rows.

use std::fmt;

use super::text::{NAME, PERTURBED, ticks};
use super::{CallsiteReport, Clock, Report};

/// The share of the total that interrupted calls or outliers may be, before the dump says so.
const NOTED_SHARE: f64 = 0.05;

/// What only some rows have, on a line of its own.
pub(super) fn row_notes(
    f: &mut fmt::Formatter<'_>,
    callsite: &CallsiteReport,
    clock: &Clock,
) -> fmt::Result {
    let mut parts = Vec::new();
    if let (Some(unit), Some(per_unit)) = (&callsite.unit, callsite.ticks_per_unit) {
        let unit_name = unit.trim_end_matches('s');
        parts.push(format!("{per_unit:.3} {}/{unit_name}", clock.unit()));
        if let Some(rate) = callsite.units_per_second {
            parts.push(if unit == "bytes" {
                format!("{:.3} GB/s", rate / 1e9)
            } else {
                format!("{:.3} M{unit}/s", rate / 1e6)
            });
        }
    }
    if let (Some(polls), Some(cancelled)) = (callsite.polls, callsite.cancelled) {
        parts.push(format!(
            "{:.1} polls/call",
            polls as f64 / (callsite.calls + cancelled).max(1) as f64
        ));
        parts.push(format!(
            "wall {} {}/call",
            ticks(callsite.wall_mean_ticks, 0),
            clock.unit()
        ));
        parts.push(format!("{cancelled} cancelled"));
    }
    parts.extend(interrupted(callsite));
    parts.extend(outlier_excess(callsite));
    // Where none can be detected, the banner has said so.
    if callsite.unknown != 0 && clock.no_interruptions_because.is_none() {
        parts.push(format!(
            "{} not known to be clean: another library used rseq, or their thread was ending",
            callsite.unknown
        ));
    }
    if callsite.running != 0 {
        parts.push(format!("{} still running", callsite.running));
    }
    if callsite.anomalies != 0 {
        parts.push(format!(
            "{} not measured (the counter went backwards, or a section was never stopped)",
            callsite.anomalies
        ));
    }
    if callsite.saturated != 0 {
        parts.push(format!(
            "{} over 30 hours long, or the counter jumped: quantiles end there",
            callsite.saturated
        ));
    }
    if !callsite.fence_supported {
        parts.push(format!("no {} on this CPU, lfence instead", callsite.fence));
    }
    if parts.is_empty() {
        return Ok(());
    }
    writeln!(f, "      {:<NAME$}   {}", "", parts.join(", "))
}

/// The interrupted calls, where they hold much, or are all there is to show.
fn interrupted(callsite: &CallsiteReport) -> Option<String> {
    let count = callsite.interrupted.filter(|&count| count != 0)?;
    let mean = callsite.interrupted_mean_ticks?;
    let share = count as f64 * mean / callsite.total_ticks.max(1.0);
    let detected = format!(
        "{count} interrupted, {:.0} % of the total",
        share.min(1.0) * 100.0
    );
    if callsite.samples == 0 {
        Some(format!(
            "{detected}, their mean {mean:.1}: no other call but each thread's first"
        ))
    } else {
        (share > NOTED_SHARE).then_some(detected)
    }
}

/// What outliers hold, where it is much, or more than what the mean is said to be off by.
fn outlier_excess(callsite: &CallsiteReport) -> Option<String> {
    let (share, of_mean) = (
        callsite.outlier_excess_share?,
        callsite.outlier_excess_mean_ticks?,
    );
    let known_to =
        callsite.std_error_ticks.unwrap_or(0.0) + callsite.systematic_error_ticks.unwrap_or(0.0);
    (share > NOTED_SHARE || of_mean > known_to).then(|| {
        format!(
            "outliers ≈ {:.1} % of the total, {of_mean:.1} of the mean, in {} calls",
            share * 100.0,
            callsite.outliers
        )
    })
}

/// How net came from raw, how far the mean may be off, and the interrupted calls: for the alternate form.
pub(super) fn corrections(f: &mut fmt::Formatter<'_>, callsite: &CallsiteReport) -> fmt::Result {
    // A net total is never below zero, however little its probes saw of themselves.
    let corrected = callsite.raw_ticks
        - callsite.visible_overhead_ticks
        - callsite.nested_overhead_ticks
        - callsite.registration_overhead_ticks;
    let sign = if corrected < 0.0 { "< 0, so" } else { "=" };
    writeln!(
        f,
        "      {:<NAME$}   raw {:.0} - visible {:.0} - nested {:.0} - registration {:.0} {sign} net {:.0}; mean raw {}, min raw {}",
        "",
        callsite.raw_ticks,
        callsite.visible_overhead_ticks,
        callsite.nested_overhead_ticks,
        callsite.registration_overhead_ticks,
        callsite.total_ticks,
        ticks(callsite.mean_raw_ticks, 1),
        ticks(callsite.min_raw_ticks, 0),
    )?;
    if let Some(threshold) = callsite.outlier_threshold_ticks {
        writeln!(
            f,
            "      {:<NAME$}   mean {} ± {} s.e. ± {} systematic - {} outliers in {} calls of {threshold:.0} or more",
            "",
            ticks(callsite.mean_ticks, 1),
            ticks(callsite.std_error_ticks, 1),
            ticks(callsite.systematic_error_ticks, 1),
            ticks(callsite.outlier_excess_mean_ticks, 1),
            callsite.outliers
        )?;
    }
    if callsite.interrupted_histogram.is_empty() {
        return Ok(());
    }
    write!(f, "      {:<NAME$}   interrupted calls, from ticks on:", "")?;
    for bucket in &callsite.interrupted_histogram {
        write!(f, " {}: {}", bucket.from_ticks, bucket.calls)?;
    }
    writeln!(f)
}

pub(super) fn footer(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    if report
        .callsites
        .iter()
        .any(CallsiteReport::is_below_resolution)
    {
        writeln!(
            f,
            "tsc: < a call too short to be detected from none; tsc_runtime::measure repeats it until it can be"
        )?;
    }
    let coarse = |callsite: &CallsiteReport| {
        !callsite.is_below_resolution() && callsite.is_coarse(&report.clock)
    };
    if report.callsites.iter().any(coarse) {
        let step = report.clock.resolution_ticks;
        writeln!(
            f,
            "tsc: ~ min and quantiles ± 1 step of the counter, {step} ticks; the mean is known as ± s.e. says"
        )?;
    }
    if report
        .callsites
        .iter()
        .any(|callsite| callsite.perturbation > PERTURBED)
    {
        writeln!(
            f,
            "tsc: ! the probes are over half of the raw ticks; take the attribute off this function, or off those it calls"
        )?;
    }
    if report.unrecorded_calls != 0 {
        writeln!(
            f,
            "tsc: {} calls from inside the recording itself were not recorded",
            report.unrecorded_calls
        )?;
    }
    Ok(())
}
