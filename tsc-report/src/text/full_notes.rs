//! The lines below a row that only the full form has.

use super::names::{NAME, escaped};
use super::scale::fixed;
use super::tick_clock;
use crate::data::histogram::count;
use crate::{Bucket, CallsiteReport};

/// The function's place in the source, how net ticks follow from raw ones, the errors of the figures, and the interrupted calls.
pub(super) fn lines(callsite: &CallsiteReport) -> impl Iterator<Item = String> {
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
    lines.extend(interrupted(&callsite.interrupted_histogram));
    let indented = |line| format!("      {:<NAME$}   {line}", "");
    lines.into_iter().map(indented)
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
        callsite.self_on_cpu(),
        ticks(callsite.self_error_ticks, 0),
        ticks(callsite.mean_raw_ticks, 1),
        ticks(callsite.min_raw_ticks, 0),
    )
}

/// What the total and the wall time consist of, if the function was off the CPU.
fn off_cpu(callsite: &CallsiteReport) -> Option<String> {
    let on_cpu = callsite.on_cpu_ticks?;
    let parts = format!(
        "on the CPU {} + blocked {} = {:.0}, + waiting for a CPU {} = wall {:.0}",
        fixed(on_cpu, 0),
        ticks(callsite.blocked_ticks, 0),
        callsite.total_ticks,
        ticks(callsite.waiting_ticks, 0),
        callsite.wall_ticks,
    );
    // Light calls do not count switches, and have no times of their own.
    let of_calls = match callsite.is_light() {
        true => String::new(),
        false => format!(
            ", in {} switches; wall time: mean {}, p50 {}, p99 {}, max {}",
            callsite.sums.switches,
            ticks(callsite.wall_mean_ticks, 1),
            ticks(callsite.wall_p50_ticks, 0),
            ticks(callsite.wall_p99_ticks, 0),
            ticks(callsite.wall_max_ticks, 0),
        ),
    };
    (on_cpu != callsite.wall_ticks).then(|| parts + &of_calls)
}

/// The interrupted calls, from each power of two to the next.
fn interrupted(buckets: &[Bucket]) -> Option<String> {
    let octave = |bucket: &Bucket| bucket.from_ticks.checked_ilog2();
    let octaves = buckets.chunk_by(|one, next| octave(one) == octave(next));
    let calls = octaves.map(|of| match octave(&of[0]) {
        None => format!("{} of no ticks", count(of)),
        Some(bit) => format!("{} of {} ticks or more", count(of), 1_u64 << bit),
    });
    let calls: Vec<String> = calls.collect();
    (!calls.is_empty()).then(|| format!("interrupted calls: {}", calls.join(", ")))
}

fn ticks(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| fixed(value, digits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::LIGHT;

    #[test]
    fn light_function_that_was_off_the_cpu_is_not_said_to_have_no_switches() {
        let said = |probe: &str| {
            off_cpu(&CallsiteReport {
                probe: probe.to_owned(),
                on_cpu_ticks: Some(5.0),
                total_ticks: 5.0,
                wall_ticks: 12.0,
                waiting_ticks: Some(7.0),
                ..CallsiteReport::default()
            })
            .unwrap()
        };
        let parts = "+ waiting for a CPU 7 = wall 12";
        assert!(said(LIGHT).ends_with(parts), "{}", said(LIGHT));
        assert!(said("timed").contains(&format!("{parts}, in 0 switches; ")));
    }
}
