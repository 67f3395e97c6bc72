//! Saved runs: `target/tsc/NAME/session.json`, and the reports of each run in `target/tsc/NAME/RUN/`, one for each process.

mod name;
mod parts;
pub mod read;
mod store;

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tsc_report::Report;

use crate::execute::Ended;

pub use name::{check_name, local_start};
pub use parts::sum;
pub use read::{is_saved, load, read_report};
pub use store::{Store, Writer};

/// The file that describes a session.
const ABOUT: &str = "session.json";

/// The contents of `session.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct About {
    /// The command that was measured.
    pub command: Vec<String>,
    /// Whether every function was annotated.
    pub all: bool,
    /// Of these, the functions that were left out because of what their probes cost, as `module::name`.
    pub without: Vec<String>,
    /// The closures without a row, because only their own functions run them.
    pub inner: Vec<String>,
    /// What no other session has, if this one was measured in turns with another: names change.
    pub id: Option<String>,
    /// The `id` of the session with which this one was measured in turns, if there is one.
    pub interleaved_with: Option<String>,
    /// The runs, in their order.
    pub runs: Vec<Run>,
    /// Remarks about the measurement, for people.
    pub remarks: Vec<String>,
}

impl About {
    /// The description of a session of this command.
    #[must_use]
    pub fn of(command: &[OsString]) -> Self {
        let words = command.iter().map(|word| word.display().to_string());
        Self {
            command: words.collect(),
            ..Self::default()
        }
    }
}

/// One run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Run {
    /// The folder that contains the reports.
    pub folder: String,
    /// The round in which it was measured, together with runs of another session.
    pub round: Option<u32>,
    /// The order of functions in which the program was linked.
    pub order: Option<u32>,
    /// The program's exit status, or 128 plus the signal.
    pub status: u8,
    /// The time from start to end.
    pub seconds: f64,
    /// The same time of the program without measurement, which ran beside it.
    pub bare_seconds: Option<f64>,
    /// The CPU time, if the system tells.
    pub cpu_seconds: Option<f64>,
    /// The same time of the program without measurement.
    pub bare_cpu_seconds: Option<f64>,
}

/// Runs that are reported or compared.
#[derive(Clone, Debug)]
pub struct Session {
    /// The name that the user gave.
    pub label: String,
    /// The path of the session.
    pub path: PathBuf,
    /// How it was measured, if `cargo tsc run` made it.
    pub about: Option<About>,
    /// The name of the folder of each of `runs`.
    pub folders: Vec<String>,
    /// One report for each run: the sum of the reports of its processes.
    pub runs: Vec<Report>,
}

impl Run {
    /// A run that ended like this.
    #[must_use]
    pub fn new(ended: Ended) -> Self {
        Self {
            status: ended.status,
            seconds: ended.seconds,
            cpu_seconds: ended.cpu_seconds,
            ..Self::default()
        }
    }

    /// Whether a signal has ended it. Their numbers end at 64, and a program itself may end with 255.
    fn is_cut(&self) -> bool {
        (129..=128 + 64).contains(&self.status)
    }
}

impl Session {
    /// What is known of the run with this index. A run that was killed has an entry in `about`, and may have no report, so that the two are
    /// not in the same places.
    #[must_use]
    pub fn about_run(&self, index: usize) -> Option<&Run> {
        let mut runs = self.about.as_ref()?.runs.iter();
        runs.find(|run| run.folder == self.folders[index])
    }

    /// What is said of its measurement.
    #[must_use]
    pub fn remarks(&self) -> &[String] {
        let about = self.about.as_ref();
        about.map_or(&[], |about| &about.remarks)
    }

    /// Leaves out the runs that a signal has ended, which say little of whole ones, unless there are no others. Returns their number.
    pub fn leave_out_cut(&mut self) -> usize {
        let is_whole = |index| self.about_run(index).is_none_or(|run| !run.is_cut());
        let whole: Vec<usize> = (0..self.runs.len()).filter(|&at| is_whole(at)).collect();
        let cut = self.runs.len() - whole.len();
        if whole.is_empty() || cut == 0 {
            return 0;
        }
        self.folders = whole.iter().map(|&at| self.folders[at].clone()).collect();
        self.runs = whole.iter().map(|&at| self.runs[at].clone()).collect();
        cut
    }

    /// Whether `run --all` has measured it.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.about.as_ref().is_some_and(|about| about.all)
    }

    /// The command that measures the same with the call tree.
    #[must_use]
    pub fn tree_command(&self) -> &'static str {
        match self.is_all() {
            true => "cargo tsc run --all --tree",
            false => "cargo tsc run --tree",
        }
    }

    /// Whether one call of `ab` measured both. Their names do not tell, because an older session of the same name is renamed.
    #[must_use]
    pub fn is_in_turns_with(&self, other: &Self) -> bool {
        let partner = self
            .about
            .as_ref()
            .and_then(|it| it.interleaved_with.as_ref());
        partner.is_some() && partner == other.about.as_ref().and_then(|it| it.id.as_ref())
    }

    /// The sum of all runs.
    ///
    /// # Errors
    /// If the ticks come from different clocks, or if one run is the sum of others.
    pub fn sum(&self) -> anyhow::Result<Report> {
        let mut sum = Report::default();
        for (run, folder) in self.runs.iter().zip(&self.folders) {
            parts::check_sum(&self.path.join(folder), run, &self.runs)?;
            sum.merge(run)?;
        }
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sessions_of_one_call_are_in_turns() {
        let session = |id: &str, partner: &str| Session {
            label: String::new(),
            path: "session".into(),
            about: Some(About {
                id: Some(id.to_owned()),
                interleaved_with: Some(partner.to_owned()),
                ..About::default()
            }),
            folders: Vec::new(),
            runs: Vec::new(),
        };
        let [before, after] = [session("1", "2"), session("2", "1")];
        let [again, unmeasured] = [
            session("4", "3"),
            Session {
                about: None,
                ..after.clone()
            },
        ];
        assert!(before.is_in_turns_with(&after) && after.is_in_turns_with(&before));
        for other in [&before, &again, &unmeasured] {
            assert!(!before.is_in_turns_with(other) && !other.is_in_turns_with(&before));
        }
    }
}
