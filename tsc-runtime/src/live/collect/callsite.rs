//! Makes a callsite's report from the registry's totals.

use std::collections::HashMap;
use std::ptr;

use super::process_started;
use super::slowest::add_slowest;
use crate::calibration::light_cost;
use crate::events;
use crate::record::callsite::{Callsite, Unit};
use crate::record::histogram::{Histogram, least};
use crate::record::light::{PathSums, Row};
use crate::record::name;
use crate::record::totals::Totals;
use crate::registry::{Figures, LightRow, ThreadName, Ticked, is_light_unsplit};
use crate::tsc::Fence;
use tsc_report::__private::{
    LIGHT, SQUARES_UNIT, TIMED, WholeTicks, derive_errors, order, reorder,
};
use tsc_report::{
    Bucket, CallsiteReport, CallsiteSums, Clock, EventCount, FirstCall, SumOfSquares, ThreadReport,
};

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
    derive_errors(&mut callsites);
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
        histogram: buckets(&totals.histogram),
        interrupted_histogram: buckets(&totals.excluded_histogram),
        wall_histogram: totals
            .wall_histogram()
            .as_ref()
            .map(buckets)
            .unwrap_or_default(),
        sums,
        events: events(callsite),
        ..CallsiteReport::default()
    };
    report.derive(clock);
    report
}

fn events(callsite: &Callsite) -> Vec<EventCount> {
    let counts = events::counts(callsite).into_iter();
    counts
        .map(|count| EventCount {
            event: count.event.to_owned(),
            calls: count.calls,
            count: count.count,
        })
        .collect()
}

/// The parts of the threads, one for each thread name, by descending self ticks.
fn thread_rows(
    whole: &CallsiteReport,
    parts: &[(&ThreadName, &Totals)],
    clock: &Clock,
) -> Vec<ThreadReport> {
    let rows: Vec<ThreadReport> = parts
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
    let order = order(rows.len(), &|one, other| {
        rows[other].self_ticks.cmp(&rows[one].self_ticks)
    });
    reorder(rows, &order)
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
    rows.sort_by_key(|row| std::cmp::Reverse(row.self_ticks));
    rows
}

/// The fields of the totals are listed by name, so that a new one cannot be forgotten here.
fn sums(totals: &Totals) -> CallsiteSums {
    let Totals {
        threads,
        running,
        nested,
        callees,
        registration_costs,
        inner,
        inner_gross,
        inner_nested,
        samples,
        sum,
        squares,
        min,
        max,
        histogram: _,
        firsts,
        first_sum,
        first,
        firsts_interrupted,
        repaired,
        repaired_histogram: _,
        excluded,
        excluded_sum,
        excluded_histogram: _,
        calls_blocked,
        calls_waiting,
        wall_max,
        side_wall_histogram: _,
        slowest: _,
        off,
        waiting,
        own_off,
        own_waiting,
        unsplit,
        unasked,
        anomalies,
        panicked,
        unknown,
        units,
        polls,
        polls_gross,
        wall,
        cancelled,
        visible,
        inner_visible,
    } = *totals;
    CallsiteSums {
        threads,
        running,
        samples,
        sum,
        squares: SumOfSquares(squares),
        min,
        max,
        firsts,
        first_sum,
        first: first.map(|(_, ticks)| FirstCall {
            process_started_ns: process_started(),
            ticks,
        }),
        firsts_interrupted,
        repaired,
        excluded,
        excluded_sum,
        calls_blocked,
        calls_waiting,
        wall_max,
        off,
        waiting,
        own_off,
        own_waiting,
        unsplit,
        unasked,
        anomalies,
        panicked,
        unknown,
        nested,
        callees,
        registration: registration_costs,
        inner,
        inner_gross,
        inner_nested,
        visible_milliticks: visible.wrapping_mul(1000),
        inner_visible_milliticks: inner_visible.wrapping_mul(1000),
        units,
        polls,
        polls_gross,
        wall,
        cancelled,
        ..CallsiteSums::default() // the rest is from light probes
    }
}

/// Combines buckets that begin at the same value. In short octaves there are more buckets than values, so a bucket between two values
/// counts as that of the lower value.
fn buckets(histogram: &Histogram) -> Vec<Bucket> {
    let mut buckets: Vec<Bucket> = Vec::new();
    for (octave, sub, calls) in histogram.buckets() {
        let from_ticks = least(octave, sub);
        match buckets.last_mut() {
            Some(last) if last.from_ticks == from_ticks => last.calls += calls,
            _ => buckets.push(Bucket { from_ticks, calls }),
        }
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::histogram::bucket;

    #[test]
    fn each_beginning_is_there_once() {
        let mut histogram = Histogram::default();
        let (octave, sub) = bucket(6);
        histogram.add(octave, sub, 3);
        histogram.add(octave, sub + 1, 2);
        histogram.add(octave, sub + 4, 1); // 7
        let counts: Vec<_> = buckets(&histogram)
            .iter()
            .map(|bucket| (bucket.from_ticks, bucket.calls))
            .collect();
        assert_eq!(counts, [(6, 5), (7, 1)]);
    }

    #[test]
    fn buckets_of_reports_are_the_records() {
        for bit in 0..64 {
            for value in [
                1 << bit,
                (1u64 << bit) + (1 << bit) / 3,
                (1 << bit) - 1,
                u64::MAX >> bit,
            ] {
                let (octave, sub) = bucket(value);
                let from_ticks = least(octave, sub);
                let end = Bucket {
                    from_ticks,
                    calls: 1,
                }
                .end_ticks();
                assert!(from_ticks <= value, "{value}");
                // The last bucket has everything that is longer.
                if end < 1 << 48 {
                    assert!(value < end, "{value}");
                    assert_eq!(bucket(end - 1), (octave, sub), "{value}");
                    assert_ne!(bucket(end), (octave, sub), "{value}");
                }
            }
        }
    }
}
