//! The remarks above the report: what was changed in the copy, and how much the probes slowed the run down.

use anyhow::Result;
use tsc_runtime::Report;

use super::beside::Beside;
use super::prune::{ALLOWED, Measured};
use super::tree::Tree;
use crate::rows::all_self_ticks;
use crate::session::Writer;

/// At most this many names are printed; the others are counted.
const NAMES: usize = 5;

/// If this share of the time or more was spent outside of `main`, other threads did a part of the work.
const ELSEWHERE: f64 = 0.02;

/// The remarks on a run that the user has ended.
#[must_use]
pub fn interrupted(tree: &Tree<'_>, pruned: &[Measured]) -> Vec<String> {
    let mut remarks = left_out(tree, pruned);
    remarks.push(
        "interrupted, so no bare program ran beside it: how far the probes disturbed the run is not known"
            .to_owned(),
    );
    remarks
}

/// The remarks on completed runs.
///
/// # Errors
/// If their reports cannot be added.
pub fn of(
    tree: &Tree<'_>,
    pruned: &[Measured],
    beside: &Beside<'_>,
    session: &Writer,
) -> Result<Vec<String>> {
    let mut remarks = left_out(tree, pruned);
    if let Some(status) = beside.otherwise {
        remarks.push(format!(
            "the bare program ended with status {status}, so the runs cannot be compared"
        ));
        return Ok(remarks);
    }
    let (measured, bare) = (session.seconds().unwrap_or(f64::NAN), beside.bare_seconds());
    let sum = session.sum()?;
    remarks.push(format!(
        "a run took {}, the bare program {}: {:.2} ×{}",
        duration(measured),
        duration(bare),
        measured / bare,
        of_cpu(session.cpu_seconds().zip(beside.bare_cpu_seconds()))
    ));
    let ratio = beside.ratio(session, &sum).unwrap_or(1.0);
    if measured / bare > ALLOWED && ratio <= ALLOWED {
        remarks.push(format!(
            "  the probes' part of it is {:.2} ×; the rest is what every measured process takes to start and to report, or waiting for a CPU",
            ratio
        ));
    }
    remarks.extend(root(&sum, beside));
    if ratio > ALLOWED {
        remarks.push(costs(&sum));
    }
    Ok(remarks)
}

/// What was changed in the copy.
fn left_out(tree: &Tree<'_>, pruned: &[Measured]) -> Vec<String> {
    let mut remarks = vec![format!(
        "every function: {} annotated, {} too short for a probe, {} left out because their probes cost too much",
        tree.attributes,
        tree.too_short,
        pruned.len()
    )];
    let mut worst: Vec<&Measured> = pruned.iter().collect();
    worst.sort_by_key(|function| std::cmp::Reverse(function.calls));
    for function in worst.iter().take(NAMES) {
        // The cost of a probe is an average. For a function that is shorter than the error of this average, the result may be negative.
        let ticks = (function.self_ticks / function.calls.max(1) as f64).max(0.0);
        remarks.push(format!(
            "  left out: {}, {} calls of {ticks:.0} ticks",
            function.name, function.calls
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
            duration(measured),
            duration(bare),
            measured / bare
        ),
        _ => String::new(),
    }
}

/// Compares the outermost function's net time with the time of the program without measurement: of CPU time if everything that was measured
/// ran inside that function.
fn root(sum: &Report, beside: &Beside<'_>) -> Option<String> {
    let hz = sum.clock().hz()?;
    let mains = sum.callsites().iter().filter(|row| row.name() == "main");
    let root = mains.max_by(|a, b| a.total_ticks().total_cmp(&b.total_ticks()))?;
    if root.running() > 0 {
        return Some(
            "main has not returned: the program ends inside it, so its net time is not known"
                .to_owned(),
        );
    }
    let seconds = |ticks: f64| ticks / hz / beside.runs() as f64;
    let on_cpu = root
        .on_cpu_ticks()
        .filter(|&ticks| all_self_ticks(sum) < (1.0 + ELSEWHERE) * ticks);
    if let Some((ticks, bare)) = on_cpu.zip(beside.bare_cpu_seconds()) {
        return Some(format!(
            "main's net time is {} of CPU, {:.2} × the bare program's",
            duration(seconds(ticks)),
            seconds(ticks) / bare
        ));
    }
    Some(format!(
        "main's net time is {}, {:.2} × the bare program's run",
        duration(seconds(root.total_ticks())),
        seconds(root.total_ticks()) / beside.bare_seconds()
    ))
}

/// The functions whose probes still slow the run down most.
fn costs(sum: &Report) -> String {
    let mut rows: Vec<_> = sum.callsites().iter().collect();
    rows.sort_by(|a, b| b.overhead_ticks().total_cmp(&a.overhead_ticks()));
    let names: Vec<&str> = rows.iter().take(3).map(|row| row.name()).collect();
    format!(
        "still over {ALLOWED} ×; the most probes are in {}",
        names.join(", ")
    )
}

fn duration(seconds: f64) -> String {
    if seconds < 0.1 {
        format!("{:.2} ms", seconds * 1e3)
    } else {
        format!("{seconds:.3} s")
    }
}
