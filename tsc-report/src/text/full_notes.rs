//! The lines below a row that only the full form has.

use std::fmt;

use super::names::{NAME, escaped};
use super::scale::fixed;
use super::tick_clock;
use crate::data::rules::Combine;
use crate::{Bucket, CallsiteReport};

/// Writes the function's place in the source, how net ticks follow from raw ones, the errors of the figures, and the interrupted calls.
pub(super) fn write(f: &mut dyn fmt::Write, callsite: &CallsiteReport) -> fmt::Result {
    let place = [&callsite.module, &callsite.name, &callsite.file].map(|text| escaped(text));
    let [module, name, file] = place;
    let mut lines = vec![format!("{module}::{name} at {file}:{}", callsite.line)];
    lines.push(tick_clock::row(callsite).unwrap_or_else(|| raw(callsite)));
    if let Some(threshold) = callsite.outlier_threshold_ticks {
        lines.push(format!(
            "mean {} ± {} standard error ± {} systematic; outliers ({threshold:.0} or more): {}, which add {} to the mean",
            ticks(callsite.mean_ticks, 1),
            ticks(callsite.std_error_ticks, 1),
            ticks(callsite.systematic_error_ticks, 1),
            callsite.outliers,
            ticks(callsite.outlier_excess_mean_ticks, 1)
        ));
    }
    lines.extend(off_cpu(callsite));
    let octaves = octaves(&callsite.interrupted_histogram);
    let octaves = octaves.iter().map(|of| match of.from_ticks {
        0 => format!("{} of no ticks", of.calls),
        from => format!("{} of {from} ticks or more", of.calls),
    });
    let interrupted: Vec<String> = octaves.collect();
    if !interrupted.is_empty() {
        lines.push(format!("interrupted calls: {}", interrupted.join(", ")));
    }
    let mut lines = lines.iter();
    lines.try_for_each(|line| writeln!(f, "      {:<NAME$}   {line}", ""))
}

/// How net ticks follow from raw ones.
fn raw(callsite: &CallsiteReport) -> String {
    format!(
        "raw {:.0} - visible {:.0} - nested {:.0} - registration {:.0} = wall {:.0} ± {}; self {:.0} ± {}; mean raw {}, min raw {}",
        callsite.raw_ticks,
        callsite.visible_overhead_ticks,
        callsite.nested_overhead_ticks,
        callsite.registration_overhead_ticks,
        callsite.wall_ticks,
        ticks(callsite.total_error_ticks, 0),
        callsite.self_ticks,
        ticks(callsite.self_error_ticks, 0),
        ticks(callsite.mean_raw_ticks, 1),
        ticks(callsite.min_raw_ticks, 0),
    )
}

/// What the total and the wall time consist of, if the function was off the CPU.
fn off_cpu(callsite: &CallsiteReport) -> Option<String> {
    let on_cpu = callsite.on_cpu_ticks?;
    (on_cpu != callsite.wall_ticks).then(|| format!(
        "on the CPU {} + blocked {} = {:.0}, + waiting for a CPU {} = wall {:.0}; wall time: mean {}, p50 {}, p99 {}, max {}",
        fixed(on_cpu, 0),
            ticks(callsite.blocked_ticks, 0),
        callsite.total_ticks,
        ticks(callsite.waiting_ticks, 0),
        callsite.wall_ticks,
        ticks(callsite.wall_mean_ticks, 1),
        ticks(callsite.wall_p50_ticks, 0),
        ticks(callsite.wall_p99_ticks, 0),
        ticks(callsite.wall_max_ticks, 0),
    ))
}

/// Sums up the calls from each power of two to the next.
fn octaves(buckets: &[Bucket]) -> Vec<Bucket> {
    let octave = |from: u64| from.checked_ilog2().map_or(0, |bit| 1 << bit);
    let octaves = buckets.iter().map(|bucket| Bucket {
        from_ticks: octave(bucket.from_ticks),
        ..*bucket
    });
    let mut octaves: Vec<Bucket> = octaves.collect();
    octaves.merge(&Vec::new());
    octaves
}

fn ticks(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| fixed(value, digits))
}
