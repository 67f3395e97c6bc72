//! The report as JSON, and back: without loss.

use std::fmt;

use super::Report;
use super::data::SCHEMA;

/// Why a text is no report.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// It is no JSON, or not of the shape of a report.
    Json(serde_json::Error),
    /// It is a report of another schema than this version reads.
    Schema(u64),
    /// It has the shape of a report and contradicts itself.
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
    /// The report as JSON, in one line: what `TSC_REPORT=json` writes. [`from_json`](Self::from_json) gives an equal report.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Fails for maps without string keys, and there is none.
        serde_json::to_string(self).expect("a report is plain data")
    }

    /// Reads one report, as [`to_json`](Self::to_json) or `TSC_REPORT=json` writes it. Unknown keys are left out.
    ///
    /// # Errors
    ///
    /// The text is no report, or one of a later schema.
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

    /// What other code relies on: indices are of what is there, and histograms in order.
    fn check(&self) -> Result<(), String> {
        for (index, context) in self.contexts.iter().enumerate() {
            if let Some(callsite) = context
                .callsite
                .filter(|&callsite| callsite as usize >= self.callsites.len())
            {
                return Err(format!(
                    "context {index} is of callsite {callsite}, which is not there"
                ));
            }
            if context
                .parent
                .is_some_and(|parent| parent as usize >= index)
            {
                return Err(format!("context {index} stands before its parent"));
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
