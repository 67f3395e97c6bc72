//! Writes the report as JSON and reads it, without loss.

use crate::__reasons as reasons;
use crate::data::SCHEMA;
use crate::data::histogram::{beginning, count};
use crate::{CallsiteReport, Clock, Report};

/// The deepest context of a dump: a thread's call tree has no more nodes.
const DEEPEST: usize = 1 << 14;

reasons! {
    /// Why a text is not a report. Needs the feature `json`.
    #[derive(Debug)]
    #[non_exhaustive]
    pub enum ReadError {
        /// It is not JSON, or does not have the structure of a report.
        Json(error: serde_json::Error) = ("not a report: {error}") from,
        /// It is a report with a schema that this version does not read, older or newer.
        Schema(schema: u64) = (
            "a report of schema {schema}, but this version reads schema {SCHEMA}: {}",
            if *schema < u64::from(SCHEMA) {
                "measure again, or read it with the version that wrote it"
            } else {
                "a later version of tsc-report or cargo-tsc is needed"
            }
        ),
        /// It has the structure of a report, but contradicts itself.
        Inconsistent(what: String) = ("not a report: {what}"),
    }
}

impl Report {
    /// The JSON Schema (draft 2020-12) of what [`to_json`](Self::to_json) writes and [`from_json`](Self::from_json) reads. Needs the feature
    /// `json`.
    pub const JSON_SCHEMA: &str = include_str!("../dump.schema.json");

    /// The report as JSON in one line, as `TSC_REPORT=json` writes it. [`from_json`](Self::from_json) returns an equal report. Needs the
    /// feature `json`.
    ///
    /// ```
    /// use tsc_runtime::{Report, snapshot};
    ///
    /// let report = snapshot();
    /// assert_eq!(Report::from_json(&report.to_json())?, report);
    /// # Ok::<(), tsc_runtime::ReadError>(())
    /// ```
    #[must_use]
    pub fn to_json(&self) -> String {
        self.as_json()
    }

    /// Reads a report that [`to_json`](Self::to_json) or `TSC_REPORT=json` has written, also by an earlier version with this schema. Unknown
    /// keys are ignored, and keys that are not there have their default. Needs the feature `json`.
    ///
    /// ```
    /// use tsc_runtime::{ReadError, Report};
    ///
    /// fn calls_in(dump: &str) -> Result<u64, ReadError> {
    ///     let report = Report::from_json(dump)?;
    ///     Ok(report.callsites().iter().map(|row| row.calls()).sum())
    /// }
    /// let error = calls_in(r#"{"schema": 1}"#).unwrap_err();
    /// assert!(matches!(error, ReadError::Schema(1)));
    /// ```
    ///
    /// # Errors
    ///
    /// The text is not a report, or has an older or a later schema.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        #[derive(serde::Deserialize)]
        #[serde(expecting = "an object with the keys of a report")]
        struct Version {
            schema: u64,
        }
        let version: Version = serde_json::from_str(text)?;
        if version.schema != u64::from(SCHEMA) {
            return Err(ReadError::Schema(version.schema));
        }
        let report: Self = serde_json::from_str(text)?;
        report.check().map_err(ReadError::Inconsistent)?;
        Ok(report)
    }

    /// Checks what other code relies on: indices are valid, and histograms are in ascending order.
    fn check(&self) -> Result<(), String> {
        self.check_contexts()?;
        self.clock.check()?;
        for callsite in &self.callsites {
            callsite.check()?;
            for &index in callsite.slowest.iter().flat_map(|call| &call.path) {
                self.check_reference(index, || format!("a slow call of {}", callsite.name))?;
            }
        }
        Ok(())
    }

    fn check_reference(&self, callsite: u64, from: impl Fn() -> String) -> Result<(), String> {
        ensure((callsite as usize) < self.callsites.len(), || {
            let from = from();
            format!("{from} refers to callsite {callsite}, which does not exist")
        })
    }

    fn check_contexts(&self) -> Result<(), String> {
        let mut depths: Vec<usize> = Vec::with_capacity(self.contexts.len());
        for (index, context) in self.contexts.iter().enumerate() {
            if let Some(callsite) = context.callsite {
                self.check_reference(callsite, || format!("context {index}"))?;
            }
            let above = |parent: u64| depths.get(parent as usize).map(|depth| depth + 1);
            let depth = context.parent.map_or(Some(0), above);
            let depth = depth.ok_or_else(|| format!("context {index} precedes its parent"))?;
            let wrong = || format!("context {index} is called through more than {DEEPEST} others");
            ensure(depth <= DEEPEST, wrong)?;
            depths.push(depth);
        }
        Ok(())
    }
}

impl Clock {
    fn check(&self) -> Result<(), String> {
        let (hz, share) = (self.hz.unwrap_or(1.0), self.crowding_error_share);
        let wrong = || format!("no counter has {hz} ticks per second");
        ensure((1.0..=1e12).contains(&hz), wrong)?;
        let wrong = || format!("no function takes {share} times longer because of probes");
        ensure(is_plausible(share), wrong)?;
        self.overheads.iter().try_for_each(|of| {
            let visible = [of.visible_ticks, of.visible_error_ticks];
            let total = [of.total_ticks, of.total_error_ticks, of.nesting_ticks];
            let are_plausible = visible.into_iter().chain(total).all(is_plausible);
            let wrong = || format!("no probe costs what {} does here", of.fence);
            ensure(are_plausible, wrong)
        })
    }
}

impl CallsiteReport {
    fn check(&self) -> Result<(), String> {
        let (name, samples) = (&self.name, self.sums.samples);
        let interrupted = &self.interrupted_histogram;
        for buckets in [&self.histogram, interrupted, &self.wall_histogram] {
            let is_ascending = buckets.is_sorted_by(|one, next| one.from_ticks < next.from_ticks);
            let wrong = || format!("the buckets of {name} are not in ascending order");
            ensure(is_ascending, wrong)?;
            for from in buckets.iter().map(|bucket| bucket.from_ticks) {
                let wrong = || format!("no bucket begins at {from} ticks, as one of {name} does");
                ensure(beginning(from) == from, wrong)?;
            }
        }
        let counted = count(&self.histogram);
        let wrong = || format!("{name} has {samples} samples and {counted} in its histogram");
        ensure(counted <= samples, wrong)
    }
}

/// An error that says what is wrong, unless this holds.
fn ensure(holds: bool, wrong: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(wrong()) }
}

/// Far above what any program's calls add up to, and far below where a product with a count would be infinite, which JSON cannot say.
fn is_plausible(figure: f64) -> bool {
    figure.abs() < 1e100
}
