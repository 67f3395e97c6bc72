//! Saved runs: `target/tsc/NAME/session.json`, and each run's reports in `target/tsc/NAME/RUN/`, one a process.

mod read;
mod store;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tsc_runtime::Report;

pub use read::{load, read_report};
pub use store::{Store, Writer};

/// What `session.json` says.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct About {
    /// The version of this data's shape: 1.
    pub schema: u32,
    /// The command that was measured.
    pub command: Vec<String>,
    /// Whether every function was annotated.
    pub all: bool,
    /// Whether the runs took turns with those of this session.
    pub interleaved_with: Option<String>,
    /// How the runs went, in order.
    pub runs: Vec<Run>,
    /// What was done, for people.
    pub remarks: Vec<String>,
}

/// How one run went.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Run {
    /// The folder of its reports.
    pub folder: String,
    /// The program's exit status, or 128 and the signal.
    pub status: u8,
    /// From start to end.
    pub seconds: f64,
    /// The same of the program without any measurement, which ran beside it.
    pub bare_seconds: Option<f64>,
}

/// Runs to report or to compare.
#[derive(Clone, Debug)]
pub struct Session {
    /// As the user named it.
    pub label: String,
    /// Where it is.
    pub path: PathBuf,
    /// What is known of how it came about, if `cargo tsc run` made it.
    pub about: Option<About>,
    /// One report a run: the sum of its processes'.
    pub runs: Vec<Report>,
}

impl Session {
    /// All runs together.
    ///
    /// # Errors
    /// If their ticks are of different clocks.
    pub fn sum(&self) -> anyhow::Result<Report> {
        let mut sum = Report::default();
        for run in &self.runs {
            sum.merge(run)?;
        }
        Ok(sum)
    }
}
