//! This crate as a contestant, with any fence policy.

use peers::{Contestant, Reading, Readings};

pub struct Cycles;

impl Contestant for Cycles {
    fn start() -> Self {
        Self
    }

    fn report(self) -> Readings {
        let report = tsc_runtime::snapshot();
        let ns_per_tick = peers::clock::ns_per_tick();
        Readings::of(|name| {
            let callsite = report
                .callsites()
                .iter()
                .find(|callsite| callsite.name().ends_with(name))?;
            Some(Reading {
                calls: Some(callsite.calls()),
                mean_ns: callsite.mean_ticks().map(|ticks| ticks * ns_per_tick),
                raw_ns: callsite.mean_raw_ticks().map(|ticks| ticks * ns_per_tick),
            })
        })
    }
}
