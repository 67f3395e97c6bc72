//! Measures what a light probe costs, with the same code that the attribute inlines.

use super::measurements::{Costs, medians};
use crate::record::callsite::EmptyLightCalls;
use crate::record::light::{self, Row};
use crate::tsc::{Ticks, clock};

/// The calls of a round.
const CALLS: u32 = if cfg!(miri) { 8 } else { 512 };
/// After this time, about half a millisecond, rounds are made only until there are enough.
const ENOUGH: Ticks = 1_250_000;

/// `None` if no round succeeded.
pub(super) fn measure(empty_calls: EmptyLightCalls) -> Option<Costs> {
    let rows = [Row::default()];
    medians(ENOUGH, || {
        let mut cost = 0.0;
        light::this().with_rows(&rows, || cost = round(empty_calls));
        Some([cost, 0.0, 0.0])
    })
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
