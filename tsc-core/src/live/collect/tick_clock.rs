//! Makes the report's part about the clock of light probes.

use crate::calibration;
use crate::registry::Recorded;
use crate::tsc::clock;
use crate::{on_cpu, tick_clock};
use tsc_report::TickClock;

/// `None` if the program has no light probes.
pub(in crate::live) fn collect_tick_clock(figures: &Recorded) -> Option<TickClock> {
    let mut callsites = figures.callsites.iter();
    if figures.ticked.tree.nodes.is_empty() && !callsites.any(|(callsite, _)| callsite.is_light()) {
        return None;
    }
    let no_counter = clock::forbidden().map(|_| "the counter may not be read");
    let reason = tick_clock::unavailable().or(no_counter);
    let reason = reason.or_else(on_cpu::unavailable);
    let [ticks, age_ns, cpu_ns] = tick_clock::so_far();
    Some(TickClock {
        ticks,
        age_ns,
        cpu_ns,
        outside_ticks: figures.ticked.outside.on_cpu,
        light_call_ticks: calibration::light::of_a_call(),
        no_times_because: reason.map(str::to_owned),
        ..TickClock::default()
    })
}
