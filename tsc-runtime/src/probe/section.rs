//! `start!` and `stop!`, for code that no block can enclose.

use core::marker::PhantomData;

use super::mixed::add_light_calls;
use super::slot::Sums;
use super::stop::{Measurement, Shape};
use crate::calibration::overhead;
use crate::environment::complain;
use crate::hooks;
use crate::record::callsite::Callsite;
use crate::record::thread;
use crate::record::{Exclusion, Record};
use crate::registry::{self, Found};
use crate::tsc::clock;
use crate::tsc::{FencePolicy, Ticks, elapsed};

/// A running section. [`stop!`](crate::stop) consumes it. If it is dropped instead, a line on stderr says so, and it is counted as an
/// anomaly.
///
/// Sections may overlap, which calls cannot. Therefore a section reads both running sums of the thread but only updates that of the
/// overhead, with half of its own cost at either end. So the self time of an enclosing function contains its sections.
#[derive(Debug)]
#[must_use = "a section is measured up to its `stop!`"]
pub struct Section<P: FencePolicy> {
    callsite: &'static Callsite,
    /// Null if nothing is measured.
    record: *const Record,
    /// Whether the record is for this section alone, because the thread is ending.
    is_orphan: bool,
    sums: Sums,
    start: Ticks,
    pair: PhantomData<P>,
}

impl<P: FencePolicy> Section<P> {
    /// Starts the measurement.
    #[inline(always)]
    pub fn start(callsite: &'static Callsite) -> Self {
        let mut section = Self::prepared(callsite);
        if !section.record.is_null() {
            section.start = if clock::is_os_clock() {
                clock::now()
            } else {
                P::start()
            };
        }
        section
    }

    /// Stops and records the section. Returns its net ticks on the CPU and blocked, or `None` if nothing is measured or the counter went backwards.
    #[inline(always)]
    pub fn stop(self) -> Option<f64> {
        let net = if self.record.is_null() {
            None
        } else {
            let stop = if clock::is_os_clock() {
                clock::now()
            } else {
                P::stop()
            };
            let net = self.record(stop);
            self.end();
            net
        };
        core::mem::forget(self);
        net
    }

    #[inline(never)]
    fn prepared(callsite: &'static Callsite) -> Self {
        let thread = thread::this();
        let found = match thread.find(callsite.position()) {
            Some((_, record)) => Found::Record(record),
            None => registry::find(callsite, hooks::install),
        };
        let (record, is_orphan) = match found {
            Found::Record(record) => (record, false),
            Found::Orphan(record) => (record, true),
            Found::Nothing => (core::ptr::null(), false),
        };
        let mut section = Self {
            callsite,
            record,
            is_orphan,
            sums: Sums::of(thread),
            start: 0,
            pair: PhantomData,
        };
        // SAFETY: a record outlives everything that runs on its thread, and a section is not `Send`. Null becomes `None`.
        let Some(record) = (unsafe { record.as_ref() }) else {
            return section;
        };
        record.entry().enter();
        thread.add_overhead((record.cost.get() / 2).cast_signed());
        if thread.is_mixed() {
            add_light_calls(thread);
        }
        if !thread.detector.is_armed() {
            thread.rearm();
        }
        section.sums = Sums::of(thread);
        section
    }

    /// Adds the figures of a section that started or stops on a thread that is ending, and frees its record.
    #[inline]
    fn end(&self) {
        if self.is_orphan {
            registry::fold_orphan(self.record);
        } else if thread::this().has_ended() {
            registry::fold_lingering(self.record);
        }
    }

    #[inline(never)]
    fn record(&self, stop: Ticks) -> Option<f64> {
        // SAFETY: a record outlives everything that runs on its thread, and a section is not `Send`. Null becomes `None`.
        let record = unsafe { self.record.as_ref() }?;
        let thread = thread::this();
        if thread.is_mixed() {
            add_light_calls(thread);
        }
        let section = Measurement {
            record,
            thread,
            start: self.start,
            sums: self.sums,
            shape: Shape::Overlapping,
            is_timed: true,
        };
        let mut net = None;
        let unusual = section.verdict();
        section.stop(elapsed(self.start, stop), unusual, |cost| {
            cost.record(&section);
            if cost.unusual != Some(Exclusion::Anomalous) {
                net = Some(
                    cost.gross.wrapping_add_signed(cost.blocked).cast_signed() as f64
                        - overhead::visible(P::FENCE),
                );
            }
        });
        net
    }
}

impl<P: FencePolicy> Drop for Section<P> {
    #[cold]
    fn drop(&mut self) {
        // SAFETY: a record outlives everything that runs on its thread, and a section is not `Send`. Null becomes `None`.
        let Some(record) = (unsafe { self.record.as_ref() }) else {
            return;
        };
        record.end_activation(0, 0);
        record.add_excluded(Exclusion::Anomalous, 0);
        self.end();
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
