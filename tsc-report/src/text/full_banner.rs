//! The first lines of the full form: the machine, its counter, the overheads, and every reason to doubt the figures.

use std::fmt;

use super::machine;
use crate::{Clock, FenceOverhead};

pub(super) fn write(f: &mut dyn fmt::Write, clock: &Clock) -> fmt::Result {
    write!(f, "tsc: {}", clock.cpu.as_deref().unwrap_or("unknown CPU"))?;
    if let Some(hypervisor) = &clock.hypervisor {
        write!(f, " under {hypervisor}")?;
    }
    match clock.pinned_cpu {
        Some(cpu) => writeln!(f, "; this thread pinned to CPU {cpu}")?,
        None => writeln!(f, "; threads not pinned")?,
    }
    write!(f, "tsc: {}", clock.source)?;
    match (clock.hz, clock.ppm) {
        (Some(hz), Some(ppm)) => write!(f, " at {:.3} MHz ± {ppm:.1} ppm", hz / 1e6)?,
        _ => write!(f, " at an unknown rate")?,
    }
    write!(f, ", in steps of {}", clock.resolution_ticks)?;
    write!(
        f,
        ", {}",
        known(clock.invariant, "invariant", "not invariant")
    )?;
    writeln!(
        f,
        ", clocksource {}",
        clock.clocksource.as_deref().unwrap_or("unknown")
    )?;
    if let Some(why) = &clock.fallback_reason {
        writeln!(f, "tsc: not the TSC: {why}")?;
    }
    for overhead in &clock.overheads {
        write_overhead(f, overhead)?;
    }
    core_clock(f, clock)?;
    for line in machine::unknown(clock) {
        writeln!(f, "tsc: {line}")?;
    }
    for warning in &clock.warnings {
        writeln!(f, "tsc: {warning}")?;
    }
    for doubt in &clock.doubtful {
        writeln!(f, "tsc: doubtful: {doubt}")?;
    }
    Ok(())
}

fn write_overhead(f: &mut dyn fmt::Write, overhead: &FenceOverhead) -> fmt::Result {
    if overhead.total_ticks == 0.0 {
        return writeln!(
            f,
            "tsc: {} probe: its overhead is unknown here and not subtracted",
            overhead.fence
        );
    }
    writeln!(
        f,
        "tsc: {} probe: {:.1} ± {:.0} ticks inside the measured span, subtracted from the call; {:.1} ± {:.0} in all, subtracted from its callers",
        overhead.fence,
        overhead.visible_ticks,
        overhead.visible_error_ticks,
        overhead.total_ticks,
        overhead.total_error_ticks
    )
}

fn core_clock(f: &mut dyn fmt::Write, clock: &Clock) -> fmt::Result {
    let ratios = [
        clock.core_cycles_per_tick,
        clock.core_cycles_per_tick_min,
        clock.core_cycles_per_tick_max,
    ];
    let (Some(hz), [Some(median), Some(least), Some(greatest)], Some(source)) =
        (clock.hz, ratios, &clock.core_cycles_source)
    else {
        return Ok(());
    };
    let ghz = |ratio| ratio * hz / 1e9;
    writeln!(
        f,
        "tsc: 1 tick ≈ {median:.2} core cycles: the core's clock was {:.2} GHz (range {:.2}..{:.2}, by {source})",
        ghz(median),
        ghz(least),
        ghz(greatest)
    )
}

fn known(value: Option<bool>, yes: &'static str, no: &'static str) -> &'static str {
    match value {
        Some(true) => yes,
        Some(false) => no,
        None => "invariance unknown",
    }
}
