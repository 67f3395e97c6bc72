//! Loops over a function that does nothing, with and without probes. Calibration uses them to measure a probe's overhead.

use core::hint::black_box;

use crate::record::callsite::{Callsite, EmptyCalls, EmptyLightCalls, Kind, Meta, meta};
use crate::record::light::Frame;
use crate::tsc::escape::{escape, result};
use crate::tsc::{FencePolicy, Lfence};

use super::light::LightProbe;
use super::{Probe, Slot};

/// A kind of probe: a fence policy, or [`Light`].
pub trait ProbeKind {
    /// What callsites of this kind have in common.
    const KIND: Kind;
}

impl<P: FencePolicy> ProbeKind for P {
    const KIND: Kind = Kind::Timed(P::FENCE, empty_calls::<P>());
}

/// The kind of light probes.
#[derive(Clone, Copy, Debug)]
pub struct Light;

impl ProbeKind for Light {
    const KIND: Kind = Kind::Light(&EmptyLightCalls {
        in_memory: [call_light, call_not_light],
        in_register: [call_light_in_register, call_not_light_in_register],
    });
}

impl Callsite {
    /// A callsite with probes of this kind.
    #[must_use]
    pub const fn new<K: ProbeKind>(meta: Meta) -> Self {
        Self::with(K::KIND, meta)
    }
}

/// The callsite that replaces the annotated function's during calibration. It has the first entry of every thread's table.
static CALIBRATION: Callsite =
    Callsite::new::<Lfence>(meta(&(), module_path!(), line!()).named("overhead")).numbered(0);

/// The same for light probes. It has the first row of every thread.
static LIGHT_CALIBRATION: Callsite =
    Callsite::new::<Light>(meta(&(), module_path!(), line!()).named("overhead")).numbered(0);

// Compiled in the crate that has the callsite, with that crate's optimisation level, like all that is generic. The functions for light probes
// are not: every codegen unit of the crate would have its copy of the loops, though what they call is the runtime's.
const fn empty_calls<P: FencePolicy>() -> EmptyCalls {
    EmptyCalls {
        annotated: |calls| call(calls, annotated::<P>),
        nested: |calls| call(calls, nested::<P>),
        bare: |calls| call(calls, bare),
    }
}

#[inline(never)]
fn call_light(calls: u32) {
    call_each(calls, light);
}

#[inline(never)]
fn call_not_light(calls: u32) {
    call_each(calls, not_light);
}

#[inline(never)]
fn call_light_in_register(calls: u32) {
    call_each(calls, light_in_register);
}

#[inline(never)]
fn call_not_light_in_register(calls: u32) {
    call_each(calls, not_light_in_register);
}

/// Calls that do not wait for each other's results, as many in programs do not.
#[inline(always)]
fn call_each(calls: u32, function: fn(u64) -> u64) {
    let function = black_box(function);
    for value in 0..calls {
        escape(&function(u64::from(value)));
    }
}

#[inline(always)]
fn call(calls: u32, function: fn(u64) -> u64) {
    // The compiler must not know this value. Otherwise it would notice that the function does nothing, and remove the call.
    let function = black_box(function);
    let mut value = u64::from(calls);
    for _ in 0..calls {
        value = function(value);
    }
    escape(&value);
}

#[inline(never)]
fn annotated<P: FencePolicy>(value: u64) -> u64 {
    let mut slot = Slot::new();
    let _probe = Probe::<P>::start(&CALIBRATION, &mut slot);
    result(value)
}

/// One probe inside another.
#[inline(never)]
fn nested<P: FencePolicy>(value: u64) -> u64 {
    let mut slot = Slot::new();
    let _probe = Probe::<P>::start(&CALIBRATION, &mut slot);
    result(annotated::<P>(value))
}

/// Around a body that does nothing, a light probe takes half as long as in programs, because nothing competes with it for the core. Each step
/// takes its value from where `keep` has put it.
#[inline(always)]
fn some_work(value: u64, keep: impl Fn(u64) -> u64) -> u64 {
    (0..8).fold(value, |value, _| {
        keep(value)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(7)
    })
}

#[inline(always)]
fn some_light_work(value: u64, keep: impl Fn(u64) -> u64) -> u64 {
    let frame = Frame::new();
    let _probe = LightProbe::start(&LIGHT_CALIBRATION, &frame);
    some_work(value, keep)
}

#[inline(never)]
fn light(value: u64) -> u64 {
    some_light_work(value, black_box)
}

#[inline(never)]
fn not_light(value: u64) -> u64 {
    some_work(value, black_box)
}

#[inline(never)]
fn light_in_register(value: u64) -> u64 {
    some_light_work(value, result)
}

#[inline(never)]
fn not_light_in_register(value: u64) -> u64 {
    some_work(value, result)
}

#[inline(never)]
fn bare(value: u64) -> u64 {
    value
}
