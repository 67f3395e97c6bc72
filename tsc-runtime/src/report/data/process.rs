//! The process that was measured.

use std::collections::BTreeMap;

use super::getters::data;

/// The user's description of a run: values by name.
pub type MetaMap = BTreeMap<String, String>;

data! {
    /// The process that was measured.
    #[derive(Default)]
    pub struct Process {
        /// Its command line. Invalid UTF-8 is replaced.
        argv: Vec<String>,
        /// Its process number.
        pid: u32,
        /// The name of the machine, or of the container.
        host: String,
        /// When measuring began, at the first annotated call: RFC 3339 in UTC, with nine digits after the second, so that texts and times
        /// have the same order. Empty if nothing was measured.
        started: String,
        /// The time from the first annotated call to the report, in nanoseconds.
        duration_ns: u64,
        /// How the process ended; `None` if the report was made while it ran.
        ended: Option<Ended>,
    }
}

data! {
    /// How a process ended.
    #[derive(Default)]
    pub struct Ended {
        /// `exit` (`main` returned, or `exit` was called) or `signal`.
        reason: String,
        /// The exit code, if the C library passes it.
        code: Option<u32>,
        /// The signal's name: `SIGINT`, `SIGTERM`, `SIGHUP`.
        signal: Option<String>,
    }
}
