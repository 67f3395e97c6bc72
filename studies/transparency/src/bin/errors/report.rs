//! The report of one run, and what its rows say.

use std::path::Path;
use std::{fs, io};

use serde_json::Value;

use crate::Row;

pub(crate) struct Report(Value);

impl Report {
    /// Reads the file that a program has written.
    pub(crate) fn read(file: &Path) -> io::Result<Self> {
        Ok(Self(serde_json::from_slice(&fs::read(file)?)?))
    }

    pub(crate) fn callsites(&self) -> impl Iterator<Item = &Value> {
        self.0["callsites"].as_array().into_iter().flatten()
    }

    pub(crate) fn find(&self, wanted: &str) -> Option<&Value> {
        self.callsites().find(|callsite| name(callsite) == wanted)
    }

    /// The self ticks of all rows.
    pub(crate) fn own(&self) -> f64 {
        self.callsites().filter_map(own).sum()
    }

    /// A row of this report with what its self ticks truly are.
    pub(crate) fn row(&self, name: String, callsite: &Value, truth: f64) -> Option<Row> {
        Some(Row {
            name,
            own: own(callsite)?,
            error: callsite["self_error_ticks"].as_f64().unwrap_or(f64::NAN),
            truth,
            said: serde_json::json!({
                "callsite": without_lists(callsite),
                "clock": without_lists(&self.0["clock"]),
                "overheads": self.0["clock"]["overheads"],
                "all_own": self.own(),
            }),
        })
    }
}

pub(crate) fn name(callsite: &Value) -> &str {
    callsite["name"].as_str().unwrap_or_default()
}

/// Self ticks on the CPU.
pub(crate) fn own(callsite: &Value) -> Option<f64> {
    callsite["self_on_cpu_ticks"].as_f64()
}

/// Histograms and the like are long, and say nothing of the error.
fn without_lists(object: &Value) -> Value {
    let members = object.as_object().into_iter().flatten();
    members
        .filter(|(_, value)| !value.is_array())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}
