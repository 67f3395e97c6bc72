//! Makes a callsite's report from the registry's totals.

use super::process::process_started;
use super::slowest::add_slowest;
use crate::calibration;
use crate::events;
use crate::record::callsite::{Callsite, Unit};
use crate::record::light::PathSums;
use crate::record::name;
use crate::record::side_histograms::Side;
use crate::record::totals::Totals;
use crate::registry::{Recorded, ThreadName, is_light_unsplit};
use crate::tsc::Fence;
use tsc_report::__private::{LIGHT, SQUARES_UNIT, TIMED, WholeTicks, sorted};
use tsc_report::{CallsiteReport, CallsiteSums, Clock, ThreadReport};

const _: () = assert!(PathSums::UNIT == SQUARES_UNIT as i64);

/// The sums of all callsites.
pub(in crate::live) fn collect_callsites(figures: &Recorded, clock: &Clock) -> Vec<CallsiteReport> {
    let mut parts = vec![Vec::new(); figures.callsites.len()];
    for (name, callsites) in &figures.by_thread {
        for (callsite, totals) in callsites {
            let index = callsite.number().and_then(|of| figures.index_of(of));
            if let Some(index) = index {
                parts[index as usize].push((name, totals));
            }
        }
    }
    let rows = figures.callsites.iter().zip(parts);
    let reports = rows.map(|(&(callsite, ref totals), parts)| {
        let mut report = collect_callsite(callsite, totals);
        report.events = events::counts(callsite, figures.are_taken);
        report.thread_rows = thread_rows(callsite, &report, &parts, clock);
        report
    });
    let mut callsites: Vec<CallsiteReport> = reports.collect();
    add_slowest(&mut callsites, figures);
    callsites
}

fn collect_callsite(callsite: &Callsite, totals: &Totals) -> CallsiteReport {
    let (meta, fence) = (callsite.meta(), callsite.fence());
    let unit = meta.unit.map(|unit| match unit {
        Unit::Bytes => "bytes",
        Unit::Items => "items",
    });
    CallsiteReport {
        name: name::of(callsite),
        module: meta.module.to_owned(),
        file: meta.file.to_owned(),
        line: meta.line,
        probe: if callsite.is_light() { LIGHT } else { TIMED }.to_owned(),
        fence: fence.map_or("", Fence::name).to_owned(),
        fence_supported: fence.is_none_or(Fence::is_supported),
        unit: unit.map(str::to_owned),
        returns_iterator: meta.returns_iterator,
        is_section: meta.is_section,
        histogram: totals.histogram.clone(),
        interrupted_histogram: totals.side(Side::Excluded).clone(),
        wall_histogram: totals.wall_histogram(),
        sums: sums(callsite, totals),
        ..CallsiteReport::default()
    }
}

/// The parts of the threads, one for each thread name, by descending self ticks.
fn thread_rows(
    callsite: &Callsite,
    whole: &CallsiteReport,
    parts: &[(&ThreadName, &Totals)],
    clock: &Clock,
) -> Vec<ThreadReport> {
    let rows = parts.iter().map(|&(name, totals)| {
        let mut part = CallsiteReport {
            probe: whole.probe.clone(),
            fence: whole.fence.clone(),
            sums: sums(callsite, totals),
            ..CallsiteReport::default()
        };
        part.derive_part(whole, clock);
        ThreadReport {
            name: name.as_deref().map(str::to_owned),
            threads: part.threads,
            calls: part.calls,
            total_ticks: WholeTicks::rounded(part.total_ticks),
            self_ticks: WholeTicks::rounded(part.self_ticks),
            on_cpu_ticks: part.on_cpu_ticks.map(WholeTicks::rounded),
            self_on_cpu_ticks: part.self_on_cpu_ticks.map(WholeTicks::rounded),
        }
    });
    let rows: Vec<ThreadReport> = rows.collect();
    sorted(&rows, &|one, other| other.self_ticks.cmp(&one.self_ticks))
}

/// The sums of the totals, with what is known only now.
fn sums(callsite: &Callsite, totals: &Totals) -> CallsiteSums {
    let mut sums = totals.sums.clone();
    if let Some(first) = &mut sums.first {
        first.process_started_ns = process_started();
    }
    if sums.ticked_off != 0 && is_light_unsplit() {
        sums.unsplit = sums.unsplit.max(sums.counted).max(1);
    }
    if callsite.is_light() {
        let probes = sums.counted.max(sums.polls);
        let cost = calibration::light::of_a_call();
        sums.light_probe_milliticks = (probes as f64 * cost.unwrap_or(0.0) * 1000.0) as i64;
    }
    sums
}
