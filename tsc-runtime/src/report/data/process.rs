//! The process that was measured.

use std::collections::BTreeMap;

use super::getters::data;

/// What the user says of a run, by name.
pub type MetaMap = BTreeMap<String, String>;

data! {
    /// The process that was measured.
    #[derive(Default)]
    pub struct Process {
        /// Its command line; what is not UTF-8 replaced.
        argv: Vec<String>,
        /// Its number.
        pid: u32,
        /// The name of the machine, or of the container.
        host: String,
        /// When measuring began, at the first annotated call: RFC 3339 in UTC, with nine digits after the second, so that the order of
        /// the texts is that of the times. Empty if nothing was measured.
        started: String,
        /// How long it had been measuring when the report was made.
        duration_ns: u64,
        /// How the process ended; `None` of a report made while it ran.
        ended: Option<Ended>,
    }
}

data! {
    /// How a process ended.
    #[derive(Default)]
    pub struct Ended {
        /// `exit` (`main` returned, or `exit` was called) or `signal`.
        reason: String,
        /// The exit code, where the C library tells it.
        code: Option<u32>,
        /// The signal's name: `SIGINT`, `SIGTERM`, `SIGHUP`.
        signal: Option<String>,
    }
}
