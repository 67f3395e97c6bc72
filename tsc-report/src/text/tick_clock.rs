//! What the dump says of light probes: what a call costs, what the clock costs, and why no times are known, if so.

use crate::{CallsiteReport, Report};

/// The cost of light probes and of their clock.
pub(super) fn cost(report: &Report) -> Option<String> {
    let clock = report.tick_clock.as_ref()?;
    let call = match clock.light_call_ticks {
        Some(ticks) => format!("light probe: {ticks:.1} ticks a call"),
        None => "light probes".to_owned(),
    };
    if clock.ticks == 0 {
        return Some(call);
    }
    Some(format!(
        "{call}; {} clock ticks, {:.0} µs apart, {:.1} % CPU",
        clock.ticks,
        clock.mean_us,
        clock.cpu_share * 100.0
    ))
}

/// Why the times of light functions are unknown, if they are.
pub(super) fn doubt(report: &Report) -> Option<String> {
    let why = report.tick_clock.as_ref()?.no_times_because.as_ref();
    why.map(|why| format!("light probes count calls, and no times are known: {why}"))
}

/// The figures of a row whose time is known by ticks of the clock.
pub(super) fn row(row: &CallsiteReport) -> Option<String> {
    let ticks = row.clock_ticks?;
    let error = row.self_std_error_ticks.map(|error| format!("{error:.0}"));
    let error = error.unwrap_or("unknown".to_owned());
    let mut line = format!(
        "by {ticks} {} of the clock: self {:.0} ± {error} standard error",
        if ticks == 1 { "tick" } else { "ticks" },
        row.self_on_cpu()
    );
    if let Some(probes) = row.probe_ticks {
        let subtracted = row.subtracted_ticks();
        line += &format!(", probes {probes:.0}, subtracted {subtracted:.0}");
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TickClock;

    #[test]
    fn cost_of_a_long_run_fits_a_dump_without_a_terminal() {
        let clock = TickClock {
            light_call_ticks: Some(88.8),
            ticks: 888_888,
            mean_us: 4000.0,
            cpu_share: 0.028,
            ..TickClock::default()
        };
        let report = Report {
            tick_clock: Some(clock),
            callsites: vec![CallsiteReport {
                name: "function".to_owned(),
                ..CallsiteReport::default()
            }],
            ..Report::default()
        };
        let dump = report.to_string();
        assert!(dump.contains(" 2.8 % CPU\n"), "{dump}");
    }
}
