//! `start!` and `stop!`, for code that no block can enclose.

use core::marker::PhantomData;
use core::ptr::NonNull;

use super::stop::{Activation, Shape};
use super::unusual::add_light_calls;
use crate::calibration::overhead;
use crate::environment::complain;
use crate::hooks;
use crate::record::callsite::Callsite;
use crate::record::{Exclusion, Record, Sums, thread};
use crate::registry;
use crate::tsc::{FencePolicy, Ticks, clock, elapsed};

/// A running section. `stop!` consumes it. If it is dropped instead, a line on stderr says so, and it is counted as an anomaly.
///
/// Sections may overlap, which calls cannot. Therefore a section reads both running sums of the thread but only updates that of the
/// overhead, with half of its own cost at either end. So the self time of an enclosing function contains its sections.
#[derive(Debug)]
#[must_use = "a section is measured up to its `stop!`"]
pub struct Section<P: FencePolicy> {
    callsite: &'static Callsite,
    /// `None` if nothing is measured.
    found: Option<NonNull<Record>>,
    sums: Sums,
    start: Ticks,
    pair: PhantomData<P>,
}

impl<P: FencePolicy> Section<P> {
    /// Starts the measurement.
    #[inline(always)]
    pub fn start(callsite: &'static Callsite) -> Self {
        let mut section = Self::entered(callsite);
        if section.found.is_some() {
            section.start = clock::at_start::<P>();
        }
        section
    }

    /// Stops and records the section. Returns its net ticks on the CPU and blocked, or `None` if nothing is measured or the counter went backwards.
    #[inline(always)]
    pub fn stop(self) -> Option<f64> {
        let net = self.found.and_then(|found| {
            let net = self.record(clock::at_stop::<P>());
            registry::release(found);
            net
        });
        core::mem::forget(self);
        net
    }

    #[inline(never)]
    fn entered(callsite: &'static Callsite) -> Self {
        let thread = thread::this();
        let mut section = Self {
            callsite,
            found: registry::find(callsite, hooks::install),
            sums: Sums::of(thread),
            start: 0,
            pair: PhantomData,
        };
        if let Some(record) = section.known() {
            record.entry().enter();
            thread.add_overhead((record.cost.get() / 2).cast_signed());
            add_light_calls(thread);
            if !thread.detector.is_armed() {
                thread.rearm();
            }
            section.sums = Sums::of(thread);
        }
        section
    }

    /// The record. A section is not `Send`, and so remains on its thread.
    fn known<'a>(&self) -> Option<&'a Record> {
        // SAFETY: a record outlives everything that runs on its thread.
        self.found.map(|found| unsafe { found.as_ref() })
    }

    #[inline(never)]
    fn record(&self, stop: Ticks) -> Option<f64> {
        let record = self.known()?;
        let thread = thread::this();
        add_light_calls(thread);
        let section = Activation {
            record,
            thread,
            start: self.start,
            sums: self.sums,
            shape: Shape::Overlapping,
            is_timed: true,
        };
        let mut net = None;
        section.stop(elapsed(self.start, stop), |cost| {
            cost.record(&section);
            if cost.unusual != Some(Exclusion::Anomalous) {
                net = Some(cost.sample().cast_signed() as f64 - overhead::visible(P::FENCE));
            }
        });
        net
    }
}

impl<P: FencePolicy> Drop for Section<P> {
    #[cold]
    fn drop(&mut self) {
        let (Some(found), Some(record)) = (self.found, self.known()) else {
            return;
        };
        record.take_registration();
        record.end_activation(0, 0);
        record.add_call(Some(Exclusion::Anomalous), 0, 0, false);
        registry::release(found);
        if !std::thread::panicking() {
            let meta = self.callsite.meta();
            complain(&format!(
                "the section {:?} started at {}:{} was dropped without `stop!`: not recorded",
                meta.name.unwrap_or_default(),
                meta.file,
                meta.line,
            ));
        }
    }
}
