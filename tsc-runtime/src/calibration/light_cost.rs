//! Measures what a light probe costs, with the same code that the attribute inlines: at the first call of a light callsite, and again for
//! every report.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::measurements::{Measurements, medians};
use crate::record::callsite::{Callsite, EmptyLightCalls, Kind};
use crate::record::light::{self, Row};
use crate::tsc::Ticks;
use crate::tsc::clock;

/// The calls of a round.
const CALLS: u32 = if cfg!(miri) { 8 } else { 512 };
/// After this time, about half a millisecond, rounds are made only until there are enough.
const ENOUGH: Ticks = 1_250_000;

#[derive(Default)]
struct Light {
    /// `None` until a light callsite is called.
    empty_calls: Option<EmptyLightCalls>,
    /// The least of all measurements, in ticks: what disturbs one of them makes it longer.
    cost: Option<f64>,
}

static MEASUREMENTS: Measurements<Light> = Measurements::new();

/// The cost, as the bits of an `f64`, for those who must not take a lock.
static COST: AtomicU64 = AtomicU64::new(0);

/// Forgets all measurements, in the child of a fork.
#[cfg(all(unix, not(miri)))] // no process is forked elsewhere
pub(crate) fn start_from_zero() {
    MEASUREMENTS.forget();
}

/// Measures the cost with the functions of this callsite, unless it has been measured.
pub(crate) fn calibrate(callsite: &Callsite) {
    if let Kind::Light(empty_calls) = callsite.kind()
        && MEASUREMENTS.with(|known| known.empty_calls.is_none())
    {
        measure_and_add(empty_calls);
    }
}

/// Measures the cost again, if light probes are in use.
pub(crate) fn recalibrate() {
    if let Some(empty_calls) = MEASUREMENTS.with(|known| known.empty_calls) {
        measure_and_add(empty_calls);
    }
}

fn measure_and_add(empty_calls: EmptyLightCalls) {
    let cost = measure(empty_calls);
    MEASUREMENTS.with(|known| {
        known.empty_calls = Some(empty_calls);
        let least = [known.cost, cost].into_iter().flatten().reduce(f64::min);
        known.cost = least;
        COST.store(least.unwrap_or(0.0).to_bits(), Relaxed);
    });
}

/// The ticks that a light call costs its program more than a call without the probe. `None` if there are no light probes, or if no measurement succeeded.
pub(crate) fn ticks() -> Option<f64> {
    MEASUREMENTS.with(|known| known.cost)
}

/// The ticks that so many light calls cost.
pub(crate) fn of(calls: u64) -> i64 {
    (calls as f64 * f64::from_bits(COST.load(Relaxed))).round() as i64
}

fn measure(empty_calls: EmptyLightCalls) -> Option<f64> {
    let rows = [Row::new()];
    let costs = medians(ENOUGH, || {
        let mut cost = 0.0;
        light::this().with_rows(&rows, || cost = round(empty_calls));
        Some([cost])
    });
    costs.map(|[cost]| cost)
}

fn round(empty_calls: EmptyLightCalls) -> f64 {
    let start = clock::now();
    (empty_calls.annotated)(CALLS);
    let annotated = clock::now();
    (empty_calls.bare)(CALLS);
    let bare = clock::now();
    let per_call = |ticks: Ticks| ticks as f64 / f64::from(CALLS);
    per_call(annotated - start) - per_call(bare - annotated)
}
