//! Writes the report as JSON and reads it, without loss.

use std::fmt;

use super::Report;
use super::data::SCHEMA;

/// Why a text is not a report.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// It is not JSON, or does not have the structure of a report.
    Json(serde_json::Error),
    /// It is a report with a schema that this version does not read.
    Schema(u64),
    /// It has the structure of a report, but contradicts itself.
    Inconsistent(String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => write!(f, "not a report: {error}"),
            Self::Schema(schema) => write!(
                f,
                "a report of schema {schema}; this version of tsc-runtime reads schema {SCHEMA}"
            ),
            Self::Inconsistent(what) => write!(f, "not a report: {what}"),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Json(error) => Some(error),
            _ => None,
        }
    }
}

impl Report {
    /// The report as JSON in one line, as `TSC_REPORT=json` writes it. [`from_json`](Self::from_json) returns an equal report.
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
        // This fails only for maps with keys that are not strings, and the report has none.
        serde_json::to_string(self).expect("a report is plain data")
    }

    /// Reads a report that [`to_json`](Self::to_json) or `TSC_REPORT=json` has written. Unknown keys are ignored.
    ///
    /// # Errors
    ///
    /// The text is not a report, or has a later schema.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        #[derive(serde::Deserialize)]
        struct Version {
            schema: u64,
        }
        let version: Version = serde_json::from_str(text).map_err(ReadError::Json)?;
        if version.schema != u64::from(SCHEMA) {
            return Err(ReadError::Schema(version.schema));
        }
        let report: Self = serde_json::from_str(text).map_err(ReadError::Json)?;
        report.check().map_err(ReadError::Inconsistent)?;
        Ok(report)
    }

    /// Checks what other code relies on: indices are valid, and histograms are in ascending order.
    fn check(&self) -> Result<(), String> {
        for (index, context) in self.contexts.iter().enumerate() {
            if let Some(callsite) = context
                .callsite
                .filter(|&callsite| callsite as usize >= self.callsites.len())
            {
                return Err(format!(
                    "context {index} refers to callsite {callsite}, which does not exist"
                ));
            }
            if context
                .parent
                .is_some_and(|parent| parent as usize >= index)
            {
                return Err(format!("context {index} precedes its parent"));
            }
        }
        for callsite in &self.callsites {
            let histograms = [
                &callsite.histogram,
                &callsite.interrupted_histogram,
                &callsite.wall_histogram,
            ];
            let ordered = histograms
                .iter()
                .all(|buckets| buckets.is_sorted_by(|one, next| one.from_ticks < next.from_ticks));
            if !ordered {
                return Err(format!(
                    "the buckets of {} are not in ascending order",
                    callsite.name
                ));
            }
            let counted = super::data::histogram::count(&callsite.histogram);
            if counted > callsite.sums.samples {
                return Err(format!(
                    "{} has {} samples and {counted} in its histogram",
                    callsite.name, callsite.sums.samples
                ));
            }
        }
        Ok(())
    }
}
