//! Loops over a function that does nothing, with and without probes. Calibration uses them to measure a probe's overhead.

use crate::record::callsite::{Callsite, EmptyCalls, Meta};
use crate::tsc::{FencePolicy, Lfence, escape, result};

use super::{Probe, Slot};

impl Callsite {
    /// A callsite for the calibration of `P`; no annotated function has it.
    #[must_use]
    pub const fn new<P: FencePolicy>(meta: Meta) -> Self {
        Self::with(P::FENCE, empty_calls::<P>(), meta)
    }
}

/// The callsite that replaces the annotated function's during calibration. It has the first entry of every thread's table.
static CALIBRATION: Callsite = Callsite::new::<Lfence>(Meta {
    name: Some("overhead"),
    path: || "",
    module: module_path!(),
    file: file!(),
    line: line!(),
    unit: None,
    returns_iterator: false,
})
.numbered(0);

const fn empty_calls<P: FencePolicy>() -> EmptyCalls {
    EmptyCalls {
        annotated: call_annotated::<P>,
        nested: call_nested::<P>,
        bare: call_bare,
    }
}

// `inline`, so that these functions are compiled in the crate that has the callsite, with that crate's optimisation level.
#[inline]
fn call_annotated<P: FencePolicy>(calls: u32) {
    call(calls, annotated::<P>);
}

#[inline]
fn call_nested<P: FencePolicy>(calls: u32) {
    call(calls, nested::<P>);
}

#[inline]
fn call_bare(calls: u32) {
    call(calls, bare);
}

#[inline(always)]
fn call(calls: u32, function: fn(u64) -> u64) {
    // The compiler must not know this value. Otherwise it would notice that the function does nothing, and remove the call.
    let function = core::hint::black_box(function);
    let mut value = u64::from(calls);
    for _ in 0..calls {
        value = function(value);
    }
    escape(&value);
}

#[inline(never)]
fn annotated<P: FencePolicy>(value: u64) -> u64 {
    escape(&value);
    let mut slot = Slot::new();
    let _probe = Probe::<P>::start(&CALIBRATION, &mut slot);
    result(value)
}

/// One probe inside another.
#[inline(never)]
fn nested<P: FencePolicy>(value: u64) -> u64 {
    escape(&value);
    let mut slot = Slot::new();
    let _probe = Probe::<P>::start(&CALIBRATION, &mut slot);
    result(annotated::<P>(value))
}

#[inline(never)]
fn bare(value: u64) -> u64 {
    value
}
