//! The dump: one line a callsite in the style of the GCLK macro, `\n:CLK: %-50.50s :%14I64d`, so that whatever parsed that macro's
//! lines parses these; more columns follow to the right.

use std::fmt;

use super::{CallsiteReport, Clock, Report};

/// GCLK's columns.
const NAME: usize = 50;
const TOTAL: usize = 14;
/// The columns to their right.
const COUNT: usize = 11;
const TICKS: usize = 11;

/// The share of raw ticks that the probes may be, before the row is marked.
const PERTURBED: f64 = 0.5;

/// The share of the total that interrupted calls or gaps may be, before the row says so.
const TOLD_SHARE: f64 = 0.05;

/// A median of fewer steps of the counter than this is known to ± 1 step only; the mean of many calls is known better.
const COARSE_STEPS: f64 = 20.0;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.callsites.is_empty() {
            return writeln!(f, "tsc: no annotated function was called");
        }
        banner(f, &self.clock)?;
        heading(f, &self.clock)?;
        let self_sum: f64 = self
            .callsites
            .iter()
            .map(|callsite| callsite.self_ticks)
            .sum();
        for callsite in &self.callsites {
            row(f, callsite, &self.name_of(callsite), self_sum)?;
            marks(f, callsite, &self.clock)?;
            further(f, callsite, &self.clock)?;
            if f.alternate() {
                corrections(f, callsite)?;
            }
        }
        foot(f, self)
    }
}

impl Report {
    /// The name, with the module before it where another callsite has the same name.
    fn name_of(&self, callsite: &CallsiteReport) -> String {
        let twins = self
            .callsites
            .iter()
            .filter(|other| other.name == callsite.name)
            .count();
        if twins > 1 {
            format!("{}::{}", callsite.module, callsite.name)
        } else {
            callsite.name.clone()
        }
    }
}

impl Clock {
    /// The unit's name for people: `ticks`, or what they are instead.
    pub(super) fn unit(&self) -> &'static str {
        match (self.fallback_reason.is_some(), self.distrusted) {
            (true, _) => "ns",
            (false, true) => "ticks (distrusted)",
            (false, false) => "ticks",
        }
    }
}

fn banner(f: &mut fmt::Formatter<'_>, clock: &Clock) -> fmt::Result {
    write!(f, "tsc: {}", clock.cpu.as_deref().unwrap_or("unknown CPU"))?;
    if let Some(hypervisor) = &clock.hypervisor {
        write!(f, " under {hypervisor}")?;
    }
    match clock.pinned_cpu {
        Some(cpu) => writeln!(f, "; this thread pinned to CPU {cpu}")?,
        None => writeln!(f, "; threads not pinned")?,
    }
    write!(f, "tsc: {}", clock.source)?;
    match (clock.hz, clock.ppm) {
        (Some(hz), Some(ppm)) => write!(f, " at {:.3} MHz ± {ppm:.1} ppm", hz / 1e6)?,
        _ => write!(f, " at an unknown rate")?,
    }
    write!(f, ", step {}", clock.resolution_ticks)?;
    write!(
        f,
        ", {}",
        known(clock.invariant, "invariant", "not invariant")
    )?;
    writeln!(
        f,
        ", clocksource {}",
        clock.clocksource.as_deref().unwrap_or("unknown")
    )?;
    if let Some(why) = &clock.fallback_reason {
        writeln!(f, "tsc: not the TSC: {why}")?;
    }
    for overhead in &clock.overheads {
        writeln!(
            f,
            "tsc: fence {}: {:.1} ± {:.0} ticks of a probe are visible to it, {:.1} are its cost in all; both are taken out",
            overhead.fence,
            overhead.visible_ticks,
            overhead.visible_error_ticks,
            overhead.total_ticks
        )?;
    }
    core_clock(f, clock)?;
    if let Some(why) = &clock.no_interruptions_because {
        writeln!(f, "tsc: interruptions: not detected here: {why}")?;
    }
    for warning in &clock.warnings {
        writeln!(f, "tsc: {warning}")?;
    }
    if clock.doubts != 0 {
        writeln!(
            f,
            "tsc: {} findings of tsc_runtime::self_test() are doubtful",
            clock.doubts
        )?;
    }
    Ok(())
}

fn core_clock(f: &mut fmt::Formatter<'_>, clock: &Clock) -> fmt::Result {
    let ratios = [
        clock.core_cycles_per_tick,
        clock.core_cycles_per_tick_min,
        clock.core_cycles_per_tick_max,
    ];
    let (Some(hz), [Some(median), Some(least), Some(greatest)]) = (clock.hz, ratios) else {
        return Ok(());
    };
    let ghz = |ratio| ratio * hz / 1e9;
    writeln!(
        f,
        "tsc: ticks are not core cycles: ≈ {median:.2} core cycles a tick at {:.2} GHz (range {:.2}..{:.2})",
        ghz(median),
        ghz(least),
        ghz(greatest)
    )
}

fn known(value: Option<bool>, yes: &'static str, no: &'static str) -> &'static str {
    match value {
        Some(true) => yes,
        Some(false) => no,
        None => "invariance unknown",
    }
}

fn heading(f: &mut fmt::Formatter<'_>, clock: &Clock) -> fmt::Result {
    writeln!(
        f,
        "      {:<NAME$} :{:>TOTAL$} {:>COUNT$} {:>COUNT$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {:>6} {:>TICKS$}",
        format!("net {}, by self", clock.unit()),
        "total",
        "calls",
        "clean",
        "mean",
        "± s.e.",
        "min",
        "p50",
        "p99",
        "max",
        "self %",
        "first"
    )
}

fn row(
    f: &mut fmt::Formatter<'_>,
    callsite: &CallsiteReport,
    name: &str,
    self_sum: f64,
) -> fmt::Result {
    let share = if self_sum > 0.0 {
        callsite.self_ticks / self_sum * 100.0
    } else {
        0.0
    };
    write!(
        f,
        ":CLK: {:<NAME$} :{:>TOTAL$.0} {:>COUNT$} {:>COUNT$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {:>TICKS$} {share:>6.1} {:>TICKS$}",
        cut(name, NAME),
        callsite.total_ticks,
        callsite.calls,
        callsite
            .clean
            .map_or_else(|| "?".to_owned(), |clean| clean.to_string()),
        ticks(callsite.mean_ticks, 1),
        ticks(callsite.std_error_ticks, 1),
        ticks(callsite.min_ticks, 0),
        ticks(callsite.p50_ticks, 0),
        ticks(callsite.p99_ticks, 0),
        ticks(callsite.max_ticks, 0),
        ticks(callsite.first_ticks, 0),
    )
}

fn marks(f: &mut fmt::Formatter<'_>, callsite: &CallsiteReport, clock: &Clock) -> fmt::Result {
    if callsite.is_below_resolution() {
        write!(f, " <")?;
    } else if callsite.is_coarse(clock) {
        write!(f, " ~")?;
    }
    if callsite.perturbation > PERTURBED {
        write!(f, " !")?;
    }
    writeln!(f)
}

impl CallsiteReport {
    fn is_coarse(&self, clock: &Clock) -> bool {
        let step = clock.resolution_ticks as f64;
        step > 1.0
            && self
                .p50_ticks
                .is_some_and(|median| median < COARSE_STEPS * step)
    }
}

/// Cuts a name to `width` columns. Its end is what tells methods of long types apart, so the beginning goes.
fn cut(name: &str, width: usize) -> String {
    let length = name.chars().count();
    if length <= width {
        return name.to_owned();
    }
    std::iter::once('…')
        .chain(name.chars().skip(length - width + 1))
        .collect()
}

fn ticks(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

/// What only some rows have, on a line of its own.
fn further(f: &mut fmt::Formatter<'_>, callsite: &CallsiteReport, clock: &Clock) -> fmt::Result {
    let mut parts = Vec::new();
    if let (Some(unit), Some(per_unit)) = (&callsite.unit, callsite.ticks_per_unit) {
        let unit_name = unit.trim_end_matches('s');
        parts.push(format!("{per_unit:.3} ticks/{unit_name}"));
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
            "wall {} ticks/call",
            ticks(callsite.wall_mean_ticks, 0)
        ));
        parts.push(format!("{cancelled} cancelled"));
    }
    if let (Some(interrupted @ 1..), Some(mean)) =
        (callsite.interrupted, callsite.interrupted_mean_ticks)
    {
        let share = interrupted as f64 * mean / callsite.total_ticks.max(1.0);
        if share > TOLD_SHARE {
            parts.push(format!(
                "{interrupted} interrupted, {:.0} % of the total",
                share.min(1.0) * 100.0
            ));
        }
    }
    if let Some(share) = callsite.stolen_share.filter(|&share| share > TOLD_SHARE) {
        parts.push(format!(
            "stolen ≈ {:.0} % of the total, in {} calls",
            share * 100.0,
            callsite.gaps
        ));
    }
    // Where none can be told, the banner has said so.
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
    if !callsite.fence_supported {
        parts.push(format!("no {} on this CPU, lfence instead", callsite.fence));
    }
    if parts.is_empty() {
        return Ok(());
    }
    writeln!(f, "      {:<NAME$}   {}", "", parts.join(", "))
}

/// How net came from raw, and the interrupted calls: for the alternate form.
fn corrections(f: &mut fmt::Formatter<'_>, callsite: &CallsiteReport) -> fmt::Result {
    writeln!(
        f,
        "      {:<NAME$}   raw {:.0} - visible {:.0} - nested {:.0} = net {:.0}; mean raw {}, min raw {}",
        "",
        callsite.raw_ticks,
        callsite.visible_overhead_ticks,
        callsite.nested_overhead_ticks,
        callsite.total_ticks,
        ticks(callsite.mean_raw_ticks, 1),
        ticks(callsite.min_raw_ticks, 0),
    )?;
    if callsite.interrupted_histogram.is_empty() {
        return Ok(());
    }
    write!(f, "      {:<NAME$}   interrupted calls, from ticks on:", "")?;
    for bucket in &callsite.interrupted_histogram {
        write!(f, " {}: {}", bucket.from_ticks, bucket.calls)?;
    }
    writeln!(f)
}

fn foot(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    if report
        .callsites
        .iter()
        .any(CallsiteReport::is_below_resolution)
    {
        writeln!(
            f,
            "tsc: < a call too short to be told from none; tsc_runtime::measure repeats it until it can be"
        )?;
    }
    let coarse = |callsite: &CallsiteReport| {
        !callsite.is_below_resolution() && callsite.is_coarse(&report.clock)
    };
    if report.callsites.iter().any(coarse) {
        let step = report.clock.resolution_ticks;
        writeln!(
            f,
            "tsc: ~ min and quantiles are known to ± {step}, the counter's step; the mean is known as ± s.e. says"
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_their_end() {
        assert_eq!(cut("short", 10), "short");
        assert_eq!(cut("a_long_type::method", 10), "…e::method");
        assert_eq!(cut("a_long_type::method", 10).chars().count(), 10);
    }
}
