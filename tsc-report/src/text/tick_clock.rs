//! What the dump says of light probes: what a call costs, what the clock costs, and why no times are known, if so.

use super::notes::several;
use crate::{CallsiteReport, Report};

/// If this many ticks fell into other functions and none into a light one, light functions take little, and the run is long enough.
const ENOUGH: f64 = 20.0;

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
    let clock = report.tick_clock.as_ref()?;
    if let Some(why) = &clock.no_times_because {
        let text = format!("light probes count calls, and no times are known: {why}");
        return Some(text);
    }
    let rows = report.callsites.iter();
    let light = || rows.clone().filter(|row| row.is_light());
    let is_found = |row: &CallsiteReport| row.sums.clock_ticks != 0;
    let found: f64 = rows.clone().map(|row| row.sums.ticked_own as f64).sum();
    let enough = ENOUGH * clock.mean_us / 1e6 * report.clock.hz.unwrap_or(f64::MAX);
    (light().count() != 0 && !light().any(is_found) && found <= enough).then(|| {
        "light probes: the run was too short for their clock to find a light function: measure a longer one, or with TSC_TICK=20us"
            .to_owned()
    })
}

/// The figures of a row whose time is known by ticks of the clock.
pub(super) fn row(row: &CallsiteReport) -> Option<String> {
    let ticks = row.clock_ticks?;
    let error = row.self_std_error_ticks.map(|error| format!("{error:.0}"));
    let error = error.unwrap_or("unknown".to_owned());
    let mut line = format!(
        "by {} of the clock: self {:.0} ± {error} standard error",
        several(ticks, "tick"),
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
    use crate::{Clock, TickClock};

    #[test]
    fn run_that_is_too_short_for_a_tick_is_not_one_without_time() {
        let light = |clock_ticks| CallsiteReport {
            name: "function".to_owned(),
            probe: "light".to_owned(),
            sums: crate::CallsiteSums {
                clock_ticks,
                ..crate::CallsiteSums::default()
            },
            ..CallsiteReport::default()
        };
        let said = |callsites: Vec<CallsiteReport>| {
            let report = Report {
                tick_clock: Some(TickClock {
                    mean_us: 1.0,
                    ..TickClock::default()
                }),
                callsites,
                clock: Clock {
                    hz: Some(1e9),
                    ..Clock::default()
                },
                ..Report::default()
            };
            doubt(&report).is_some_and(|text| text.contains("too short"))
        };
        assert!(said(vec![light(0), light(0)]));
        assert!(!said(vec![light(0), light(1)]));
        assert!(!said(vec![CallsiteReport::default()]));
        let timed = |ticked_own| CallsiteReport {
            sums: crate::CallsiteSums {
                clock_ticks: 1,
                ticked_own,
                ..crate::CallsiteSums::default()
            },
            ..CallsiteReport::default()
        };
        assert!(said(vec![light(0), timed(20_000)]));
        assert!(!said(vec![light(0), timed(20_001)]));
    }

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
