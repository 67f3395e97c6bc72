//! What the report says of its clock: the part that decides what all figures are worth.

use super::figures::figures;
use crate::calibration::Rate;
use crate::callsite::Callsite;
use crate::core_clock::core_clock;
use crate::machine::machine;
use crate::self_test::{self, Verdict};
use crate::totals::Totals;
use crate::tsc::Fence;
use crate::{affinity, clock, interruption, overhead, resolution};

figures! {
    /// The clock that the ticks were counted with.
    #[derive(Clone, Debug)]
    #[non_exhaustive]
    #[cfg_attr(feature = "json", derive(serde::Serialize))]
    pub struct Clock {
        /// Ticks per second; `None` if it could not be measured.
        hz: Option<f64>,
        /// The true rate is within this many millionths of `hz`, relative to CLOCK_MONOTONIC_RAW.
        ppm: Option<f64>,
        /// The step in which the counter advances, in ticks.
        resolution_ticks: u64,
        /// Whether the CPU says that the counter runs at one rate in all states.
        invariant: Option<bool>,
        /// What was read: `TSC`, or what stood in for it.
        source: &'static str,
        /// Why that is not the TSC, if it is not.
        fallback_reason: Option<String>,
        /// The hypervisor the CPU names, if any.
        hypervisor: Option<String>,
        /// The CPU's own name.
        cpu: Option<String>,
        /// The kernel's current clocksource: `tsc` if it trusts the counter itself.
        clocksource: Option<String>,
        /// The one CPU that the reporting thread is pinned to.
        pinned_cpu: Option<usize>,
        /// Why interruptions are not detected, if they are not.
        no_interruptions_because: Option<String>,
        /// Core cycles per tick while the program ran: the median of a few samples.
        core_cycles_per_tick: Option<f64>,
        /// The least of those samples.
        core_cycles_per_tick_min: Option<f64>,
        /// The greatest.
        core_cycles_per_tick_max: Option<f64>,
        /// What each fence policy in use costs here.
        overheads: Vec<FenceOverhead>,
        /// What makes the figures doubtful or bad, in sentences; empty if nothing is known to.
        warnings: Vec<String>,
        /// Whether anything in there is so bad that ticks are no measure of time.
        distrusted: bool,
    }
}

figures! {
    /// What a probe of one fence policy costs, measured in this process.
    #[derive(Clone, Debug)]
    #[non_exhaustive]
    #[cfg_attr(feature = "json", derive(serde::Serialize))]
    pub struct FenceOverhead {
        /// The policy, as the attribute takes it.
        fence: &'static str,
        /// What lies between the two reads of an empty function, in ticks: every raw figure contains it.
        visible_ticks: f64,
        /// What a caller pays for the whole probe, in ticks.
        total_ticks: f64,
    }
}

impl Clock {
    pub(super) fn look(totals: &[(&'static Callsite, Totals)], rate: Option<&Rate>) -> Self {
        let machine = machine();
        let availability = clock::availability();
        // Nothing was measured: nothing of it need be known that takes time to find out.
        let measured = !totals.is_empty();
        let core = measured.then(|| core_clock().ok()).flatten();
        let findings = if measured { self_test::quick().lines } else { Vec::new() };
        let warnings = findings.iter().filter(|line| line.verdict != Verdict::Good);
        Self {
            hz: rate.map(|rate| rate.hz),
            ppm: rate.map(|rate| rate.ppm),
            resolution_ticks: if measured { resolution::ticks() } else { 1 },
            invariant: machine.invariant_tsc,
            source: source(availability.is_ok()),
            fallback_reason: availability.err().map(|why| why.to_string()),
            hypervisor: machine.hypervisor.clone(),
            cpu: machine.cpu.clone(),
            clocksource: machine.clocksource.clone(),
            pinned_cpu: affinity::pinned_cpu(),
            no_interruptions_because: interruption::unavailable().map(str::to_owned),
            core_cycles_per_tick: core.map(|core| core.cycles_per_tick),
            core_cycles_per_tick_min: core.map(|core| core.lowest),
            core_cycles_per_tick_max: core.map(|core| core.highest),
            overheads: overheads(totals),
            warnings: warnings
                .map(|line| format!("{}: {}: {}", line.name, line.value, line.meaning))
                .collect(),
            distrusted: findings.iter().any(|line| line.verdict == Verdict::Bad),
        }
    }

    /// The unit's name for people: `ticks`, or what they are instead.
    pub(super) fn unit(&self) -> &'static str {
        match (self.fallback_reason.is_some(), self.distrusted) {
            (true, _) => "ns",
            (false, true) => "ticks (distrusted)",
            (false, false) => "ticks",
        }
    }
}

fn source(available: bool) -> &'static str {
    match available {
        true if cfg!(target_arch = "aarch64") => "CNTVCT_EL0",
        true => "TSC",
        false if clock::is_slow() => "clock_gettime",
        false => "Instant",
    }
}

fn overheads(totals: &[(&'static Callsite, Totals)]) -> Vec<FenceOverhead> {
    let in_use = |fence: &Fence| totals.iter().any(|(callsite, _)| callsite.fence() == *fence);
    Fence::ALL
        .into_iter()
        .filter(in_use)
        .map(|fence| {
            let overhead = overhead::of(fence);
            FenceOverhead {
                fence: fence.name(),
                visible_ticks: overhead.visible,
                total_ticks: overhead.total,
            }
        })
        .collect()
}
