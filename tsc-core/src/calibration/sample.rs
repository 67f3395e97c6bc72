//! Takes paired readings of the two clocks.

use std::time::Duration;

use super::{CalibrationError, Rate, Steps, fit};
use crate::calibration::resolution;
use crate::machine;
use crate::process::ClockPair;
use crate::tsc::elapsed;
use tsc_report::__private::sorted;

/// How many pairs are tried for a group, and how many of them are kept: the narrowest. The first tries only warm the caches.
const TRIES: usize = 16;
const KEPT: usize = 4;

/// A few pairs taken within microseconds: those that were disturbed least.
pub(super) type Group = [ClockPair; KEPT];

pub(super) fn group() -> Group {
    let tries = [(); TRIES].map(|()| ClockPair::read());
    // A pair whose counter went backwards comes last.
    let key = |pair: &ClockPair| (pair.width() < 0, pair.width());
    let narrowest = sorted(&tries, &|one, other| key(one).cmp(&key(other)));
    std::array::from_fn(|index| narrowest[index])
}

/// Sleeps for `time`, and takes a group.
pub(super) fn later(groups: &mut Vec<Group>, time: Duration) {
    std::thread::sleep(time);
    groups.push(group());
}

/// The time from the first group to the last.
pub(super) fn span(groups: &[Group]) -> Duration {
    let ns = |group: Option<&Group>| group.map_or(0, |group| group[0].ns);
    Duration::from_nanos(ns(groups.last()).saturating_sub(ns(groups.first())))
}

/// Whether the last group agrees with `rate`, counted from the group before it.
pub(super) fn agree(groups: &[Group], rate: &Rate) -> bool {
    let [.., [before, ..], [last, ..]] = groups else {
        return false;
    };
    let expected = last.ns.saturating_sub(before.ns) as f64 * rate.hz / 1e9;
    let steps = 2.0 * reference_step_ns() as f64 * rate.hz / 1e9;
    let allowed = (before.width() + last.width()) as f64 + expected * rate.ppm / 1e6 + steps;
    (elapsed(before.before, last.before) as f64 - expected).abs() <= allowed
}

pub(super) fn rate_of(groups: &[Group], stepped: bool) -> Result<Rate, CalibrationError> {
    let steps = Steps {
        ticks: resolution::ticks(),
        ns: reference_step_ns(),
    };
    let rate = fit(groups.as_flattened(), steps)?;
    Ok(Rate { stepped, ..rate })
}

/// The step of the reference clock.
///
/// Linux' clock advances in steps of its clocksource, which counts at 14.3 MHz (`hpet`) or 3.58 MHz (`acpi_pm`). For `tsc`, `kvm-clock` and the
/// Hyper-V page, one nanosecond is coarse enough. QueryPerformanceCounter usually counts at 10 MHz. Other systems' clocks count nanoseconds, or
/// ticks of a timer of 24 MHz or more.
fn reference_step_ns() -> u64 {
    match machine::clocksource().as_deref() {
        Some("hpet") => 70,
        Some("acpi_pm") => 280,
        Some("jiffies" | "refined-jiffies") => 10_000_000,
        _ if ClockPair::IS_RAW => 1,
        _ if cfg!(windows) => 100,
        _ => 42,
    }
}
