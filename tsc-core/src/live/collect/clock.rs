//! Makes the report's part about the clock, on which all figures depend.

use crate::calibration::core_clock::core_clock;
use crate::calibration::{overhead, resolution};
use crate::machine::{clocksource, machine};
use crate::record::callsite::Callsite;
use crate::record::totals::Totals;
use crate::self_test::{self, Finding, Verdict, stepped};
use crate::tsc::{Fence, clock};
use crate::{affinity, calibration, interruption, on_cpu};
use tsc_report::{Clock, FenceOverhead};

pub(in crate::live) fn collect_clock(totals: &[(&'static Callsite, Totals)]) -> Clock {
    let machine = machine();
    let availability = clock::availability();
    // If nothing was measured, nothing is determined that takes time.
    let measured = !totals.is_empty();
    let core = measured.then(|| core_clock().ok()).flatten();
    let tested = measured.then(self_test::quick);
    // After everything that takes time, so that less of it has to be waited for.
    let rate = measured.then(|| calibration::rate().ok()).flatten();
    let probes = share_of_probes(totals);
    let having = |verdict| {
        let findings = tested.iter().flat_map(move |test| test.having(verdict));
        findings.map(sentence).collect::<Vec<_>>()
    };
    let (warnings, mut doubtful) = (having(Verdict::Bad), having(Verdict::Doubtful));
    doubtful.extend(rate.and_then(|rate| stepped(&rate)).as_ref().map(sentence));
    Clock {
        hz: rate.map(|rate| rate.hz),
        ppm: rate.map(|rate| rate.ppm),
        resolution_ticks: if measured { resolution::ticks() } else { 1 },
        invariant: machine.invariant_tsc,
        source: source(availability.is_ok()).to_owned(),
        fallback_reason: availability.err().map(|why| why.to_string()),
        hypervisor: machine.hypervisor.clone(),
        cpu: machine.cpu.clone(),
        clocksource: clocksource(),
        pinned_cpu: affinity::pinned_cpu(),
        no_interruptions_because: interruption::unavailable().map(str::to_owned),
        no_on_cpu_because: on_cpu::unavailable().map(str::to_owned),
        core_cycles_per_tick: core.map(|core| core.cycles_per_tick),
        core_cycles_per_tick_min: core.map(|core| core.lowest),
        core_cycles_per_tick_max: core.map(|core| core.highest),
        core_cycles_source: core.map(|core| core.source.to_string()),
        overheads: overheads(totals),
        crowding_error_share: overhead::MACHINE_SHARE + overhead::CROWDING_SHARE * probes,
        doubts: doubtful.len() as u64,
        distrusted: !warnings.is_empty(),
        warnings,
        doubtful,
    }
}

fn sentence(finding: &Finding) -> String {
    let advice = finding.advice.map(|advice| format!("; {advice}"));
    let (name, value, meaning) = (finding.name, &finding.value, finding.meaning);
    format!("{name}: {value}: {meaning}{}", advice.unwrap_or_default())
}

fn source(available: bool) -> &'static str {
    match available {
        true if cfg!(target_arch = "aarch64") => "CNTVCT_EL0",
        true => "TSC",
        false if cfg!(all(target_family = "wasm", target_os = "unknown")) => "no clock",
        false if clock::is_os_clock() => "clock_gettime",
        false => "Instant",
    }
}

/// The probes' share of the ticks of all annotated functions.
fn share_of_probes(totals: &[(&'static Callsite, Totals)]) -> f64 {
    let (mut probes, mut own) = (0.0, 0.0);
    for (callsite, totals) in totals {
        let Some(fence) = callsite.fence() else {
            continue;
        };
        let sums = &totals.sums;
        probes += sums.probes() as f64 * overhead::of(fence).total_ticks;
        let callees = sums.callees.wrapping_add(sums.visible_milliticks / 1000);
        own += sums.gross().wrapping_sub(callees) as f64;
    }
    let share = probes / (probes + own.max(0.0));
    if share.is_finite() { share } else { 0.0 }
}

fn overheads(totals: &[(&'static Callsite, Totals)]) -> Vec<FenceOverhead> {
    let in_use = |fence: &Fence| totals.iter().any(|(of, _)| of.fence() == Some(*fence));
    let fences = Fence::ALL.iter().copied().filter(in_use);
    fences.map(overhead::of).collect()
}
