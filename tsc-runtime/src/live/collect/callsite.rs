//! Makes a callsite's report from the registry's totals.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ptr;

use super::process_started;
use super::slowest::add_slowest;
use crate::calibration::light_cost;
use crate::events;
use crate::record::callsite::{Callsite, Unit};
use crate::record::light::{PathSums, Row};
use crate::record::name;
use crate::record::totals::Totals;
use crate::registry::{Figures, LightRow, ThreadName, Ticked, is_light_unsplit};
use crate::tsc::Fence;
use tsc_report::__private::{
    LIGHT, SQUARES_UNIT, TIMED, WholeTicks, derive_errors, order, reorder,
};
use tsc_report::{CallsiteReport, CallsiteSums, Clock, ThreadReport};

const _: () = assert!(PathSums::UNIT == SQUARES_UNIT as i64);

/// The reports of all callsites, by descending self ticks, and for each of them the callsite's number.
pub(in crate::live) fn collect_callsites(
    figures: &Figures,
    clock: &Clock,
) -> (Vec<CallsiteReport>, Vec<Option<u32>>) {
    let mut parts: HashMap<*const Callsite, Vec<(&ThreadName, &Totals)>> = HashMap::new();
    let cost = light_cost::ticks().unwrap_or(0.0);
    for (name, callsites) in &figures.by_thread {
        for (callsite, totals) in callsites {
            let parts = parts.entry(ptr::from_ref(*callsite)).or_default();
            parts.push((name, totals));
        }
    }
    let (callsites, numbers): (Vec<CallsiteReport>, Vec<_>) = figures
        .callsites
        .iter()
        .map(|&(callsite, ref totals)| {
            let number = callsite.number();
            let light = number.and_then(|number| figures.light.get(number));
            let mut sums = sums(totals);
            if let Some(light) = light {
                add_light(&mut sums, light, cost);
            }
            let mut report = collect_callsite(callsite, totals, sums, clock);
            let parts = parts.remove(&ptr::from_ref(callsite)).unwrap_or_default();
            report.thread_rows = if callsite.is_light() {
                light_thread_rows(number, figures)
            } else {
                thread_rows(&report, &parts, clock)
            };
            (report, number)
        })
        .unzip();
    let mut callsites = callsites;
    derive_errors(&mut callsites, clock);
    let order = order(callsites.len(), &|one, other| {
        CallsiteReport::by_self(&callsites[one], &callsites[other])
    });
    let (mut callsites, numbers) = (reorder(callsites, &order), reorder(numbers, &order));
    add_slowest(&mut callsites, &numbers, figures);
    (callsites, numbers)
}

fn collect_callsite(
    callsite: &Callsite,
    totals: &Totals,
    sums: CallsiteSums,
    clock: &Clock,
) -> CallsiteReport {
    let (meta, fence) = (callsite.meta(), callsite.fence());
    let unit = meta.unit.map(|unit| match unit {
        Unit::Bytes => "bytes",
        Unit::Items => "items",
    });
    let mut report = CallsiteReport {
        name: name::of(callsite),
        module: meta.module.to_owned(),
        file: meta.file.to_owned(),
        line: meta.line,
        probe: if callsite.is_light() { LIGHT } else { TIMED }.to_owned(),
        fence: fence.map_or("", Fence::name).to_owned(),
        fence_supported: fence.is_none_or(Fence::is_supported),
        unit: unit.map(str::to_owned),
        returns_iterator: meta.returns_iterator,
        histogram: totals.histogram.clone(),
        interrupted_histogram: totals.excluded_histogram.clone(),
        wall_histogram: totals.wall_histogram(),
        sums,
        events: events::counts(callsite),
        ..CallsiteReport::default()
    };
    report.derive(clock);
    report
}

/// The parts of the threads, one for each thread name, by descending self ticks.
fn thread_rows(
    whole: &CallsiteReport,
    parts: &[(&ThreadName, &Totals)],
    clock: &Clock,
) -> Vec<ThreadReport> {
    let mut rows: Vec<ThreadReport> = parts
        .iter()
        .map(|&(name, totals)| {
            let mut part = CallsiteReport {
                fence: whole.fence.clone(),
                sums: sums(totals),
                ..CallsiteReport::default()
            };
            part.derive(clock);
            ThreadReport {
                name: name.as_deref().map(str::to_owned),
                threads: part.threads,
                calls: part.calls,
                total_ticks: WholeTicks::rounded(part.total_ticks),
                self_ticks: WholeTicks::rounded(part.self_ticks),
                on_cpu_ticks: part.on_cpu_ticks.map(WholeTicks::rounded),
            }
        })
        .collect();
    rows.sort_by_key(|row| Reverse(row.self_ticks));
    rows
}

/// Adds what light probes have found. `cost` is that of one light call, in ticks.
fn add_light(sums: &mut CallsiteSums, light: &LightRow, cost: f64) {
    let LightRow {
        counts,
        threads,
        ticked: Ticked { own, inclusive },
    } = light;
    let probes = counts.get(Row::CALLS).max(counts.get(Row::POLLS));
    sums.threads = sums.threads.max(*threads);
    sums.units += counts.get(Row::UNITS);
    sums.polls += counts.get(Row::POLLS);
    sums.cancelled += counts.get(Row::CANCELLED);
    sums.counted = counts.get(Row::CALLS);
    sums.clock_ticks = own.ticks;
    sums.ticked_own = own.on_cpu;
    sums.ticked_own_off = own.off;
    sums.ticked_own_waiting = own.waiting;
    sums.ticked_squares = own.squares;
    sums.ticked = inclusive.on_cpu;
    sums.ticked_off = inclusive.off;
    sums.ticked_waiting = inclusive.waiting;
    if inclusive.off != 0 && is_light_unsplit() {
        sums.unsplit = sums.unsplit.max(sums.counted).max(1);
    }
    sums.light_probe_milliticks = (probes as f64 * cost * 1000.0) as i64;
}

/// The parts of the threads in a light callsite, by descending self ticks.
fn light_thread_rows(number: Option<u32>, figures: &Figures) -> Vec<ThreadReport> {
    let mut rows: Vec<ThreadReport> = figures
        .light_by_thread
        .iter()
        .filter_map(|(name, totals)| {
            let row = totals.get(number?)?;
            let Ticked { own, inclusive } = &row.ticked;
            Some(ThreadReport {
                name: name.as_deref().map(str::to_owned),
                threads: row.threads,
                calls: row.counts.get(Row::CALLS),
                total_ticks: WholeTicks(inclusive.net()),
                self_ticks: WholeTicks(own.net()),
                on_cpu_ticks: Some(WholeTicks(inclusive.on_cpu)),
            })
        })
        .collect();
    rows.sort_by_key(|row| Reverse(row.self_ticks));
    rows
}

/// The sums of timed calls.
fn sums(totals: &Totals) -> CallsiteSums {
    let mut sums = totals.sums.clone();
    if let Some(first) = &mut sums.first {
        first.process_started_ns = process_started();
    }
    sums
}
