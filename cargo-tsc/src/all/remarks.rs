//! The remarks above the report: what was changed in the copy, and how much the probes slowed the run down.

use anyhow::Result;
use tsc_report::__private::{count, time};
use tsc_report::Report;

use super::beside::Beside;
use super::choice::{ALLOWED, Choice};
use super::copies::Copies;
use super::measured::Measured;
use crate::session::Writer;
use crate::statistics::median;

/// At most this many names are printed; the others are counted.
const NAMES: usize = 5;

/// What no number of probes explains where the runtime has a thread that libc knows.
const SECOND_THREAD: &str = "; in a program with one thread also the locks of the allocator, because the runtime has another";

/// The remarks on a run that the user has ended.
#[must_use]
pub fn interrupted(copies: &Copies<'_>, chosen: &Choice) -> Vec<String> {
    let mut remarks = probes(copies, chosen);
    remarks.push(
        "interrupted, so no bare program ran beside it to its end: how far the probes disturbed the run is not known"
            .to_owned(),
    );
    remarks
}

/// The remarks on completed runs.
///
/// # Errors
/// If their reports cannot be added.
pub fn of(
    copies: &Copies<'_>,
    chosen: &Choice,
    beside: &Beside<'_>,
    session: &Writer,
) -> Result<Vec<String>> {
    let mut remarks = probes(copies, chosen);
    let sum = session.sum()?;
    remarks.extend(copies.unopened(&sum));
    if let Some(status) = beside.otherwise {
        remarks.push(format!(
            "the bare program ended with status {status}, so the runs cannot be compared"
        ));
        return Ok(remarks);
    }
    let (measured, bare) = beside.seconds();
    remarks.push(format!(
        "a run took {}, the bare program {}: {:.2} ×{}{}",
        time(measured * 1e9),
        time(bare * 1e9),
        measured / bare,
        of_cpu(beside.cpu_seconds()),
        match beside.turns() {
            1 => String::new(),
            turns => format!(" (medians of {turns} runs of each, in turns)"),
        }
    ));
    let reported = session.about.runs.iter().map(|run| run.cpu_seconds);
    let reported = reported.collect::<Option<Vec<f64>>>().unwrap_or_default();
    if let Some(own) = median(&reported)
        && let Some(usual) = beside.usual_of(own)
    {
        remarks.push(format!(
            "  the report is of a run that took {} of CPU time, and others took {}: repeat the command",
            time(own * 1e9),
            time(usual * 1e9)
        ));
    }
    let ratio = beside.ratio(&sum).unwrap_or(1.0);
    // Such a thread makes reports in the meantime, and elsewhere another one is the clock of light probes.
    let is_unknown_to_libc = cfg!(all(target_os = "linux", target_arch = "x86_64"));
    let locks = match chosen.ends_soon && is_unknown_to_libc {
        true => "",
        false => SECOND_THREAD,
    };
    let is_slow = |(measured, bare): (f64, f64)| measured / bare > ALLOWED;
    if beside.is_unexplained(&sum) {
        remarks.push(format!(
            "  {}; the rest is this machine: other programs, or files that were not in memory; or loops that are optimised less with a probe in them, or thousands of threads that begin{locks}",
            beside.cost(ratio)
        ));
    } else if beside.times().is_some_and(is_slow) && ratio <= ALLOWED {
        remarks.push(format!(
            "  {}; the rest may be the start and the report, functions that are not inlined, or this machine{locks}",
            beside.cost(ratio)
        ));
    } else if ratio > ALLOWED {
        remarks.push(costs(&sum));
    }
    Ok(remarks)
}

/// What was changed in the copy.
fn probes(copies: &Copies<'_>, chosen: &Choice) -> Vec<String> {
    let filtered = match chosen.filtered.len() {
        0 => String::new(),
        some => format!(", {some} by --only, TSC_ONLY or TSC_SKIP"),
    };
    let mut remarks = vec![format!(
        "every function in its packages, also of other programs there, and closures that do more than call one: {} light, {} timed, {} too short for a probe, {} left out because of their probes' cost{filtered}: their time is their callers'",
        copies.light,
        copies.attributes - copies.light,
        copies.too_short,
        chosen.bare.len()
    )];
    let mut others = copies.dependencies.remarks();
    remarks.append(&mut others);
    remarks.extend(copies.newer());
    let mut worst: Vec<&Measured> = chosen.bare.iter().collect();
    worst.sort_by_key(|function| std::cmp::Reverse(function.calls));
    for function in worst.iter().take(NAMES) {
        remarks.push(format!(
            "  left out: {}, {} calls, {:.0} % probe",
            function.name,
            count(function.calls),
            function.perturbation() * 100.0
        ));
    }
    if worst.len() > NAMES {
        remarks.push(format!("  and {} more", worst.len() - NAMES));
    }
    remarks
}

/// The CPU times of a measured and of a bare run.
fn of_cpu(times: Option<(f64, f64)>) -> String {
    match times {
        Some((measured, bare)) if bare > 0.0 => format!(
            "; of CPU time, {} and {}: {:.2} ×",
            time(measured * 1e9),
            time(bare * 1e9),
            measured / bare
        ),
        _ => String::new(),
    }
}

/// The functions whose probes still slow the run down most. If all probes are few, something else does, and the names alone would mislead.
fn costs(sum: &Report) -> String {
    let mut functions = Measured::all(sum);
    let share = |probes: f64| 100.0 * probes / sum.self_sum();
    let together = share(functions.iter().map(|function| function.probes).sum());
    functions.sort_by(|a, b| b.probes.total_cmp(&a.probes));
    let most = functions.first().map_or(0.0, |first| first.probes);
    functions.retain(|function| function.probes > most / 20.0);
    let part = |function: &Measured| {
        let share = share(function.probes);
        format!("{} ({share:.1} % of the time)", function.name)
    };
    let parts: Vec<String> = functions.iter().take(3).map(part).collect();
    // Less than half of what is too much.
    let rest = match together < 50.0 * (ALLOWED - 1.0) {
        true => format!(
            "; by their calibrated cost, all probes took only {together:.1} %, so the rest may be functions that are not inlined, or this machine"
        ),
        false => String::new(),
    };
    format!(
        "still over {ALLOWED} ×; the most probes are in {}{rest}",
        parts.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(calls: [u64; 3]) -> Report {
        let row = |name: &str, calls: u64| {
            serde_json::json!({
                "name": name, "module": "m", "file": "m.rs", "line": calls,
                "probe": "light", "calls": calls, "self_ticks": 5000, "probe_ticks": 7 * calls,
            })
        };
        let mut report = serde_json::to_value(Report::default()).unwrap();
        let rows = ["few", "some", "many"];
        report["callsites"] = rows
            .iter()
            .zip(calls)
            .map(|(name, calls)| row(name, calls))
            .collect::<Vec<_>>()
            .into();
        Report::from_json(&report.to_string()).unwrap()
    }

    #[test]
    fn functions_with_the_most_probes_are_named_with_their_share() {
        assert_eq!(
            costs(&report([12, 60, 300])),
            "still over 1.2 ×; the most probes are in m::many (14.0 % of the time), m::some (2.8 % of the time)"
        );
    }

    #[test]
    fn few_probes_are_not_said_to_be_the_reason() {
        assert_eq!(
            costs(&report([4, 20, 100])),
            "still over 1.2 ×; the most probes are in m::many (4.7 % of the time), m::some (0.9 % of the time); by their calibrated cost, all \
             probes took only 5.8 %, so the rest may be functions that are not inlined, or this machine"
        );
    }
}
