//! The process that was measured.

use std::collections::BTreeMap;

use super::getters::data;

/// The user's description of a run: values by name.
pub type MetaMap = BTreeMap<String, String>;

data! {
    /// The process that was measured.
    pub struct Process {
        /// Its command line. Invalid UTF-8 is replaced.
        argv: Vec<String> => &[String],
        /// Its process number.
        pid: u32,
        /// The name of the machine, or of the container.
        host: String => &str,
        /// When measuring began, at the first annotated call: RFC 3339 in UTC, with nine digits after the second, so that texts and times
        /// have the same order. Empty if nothing was measured.
        started: String => &str,
        /// The time that the report covers, in nanoseconds: from the first annotated call, or from `since_ns`, to the report.
        duration_ns: u64,
        /// The CPU time of all threads of the process in that time, in nanoseconds, without what the runtime took at first calls and for
        /// earlier reports. In a merged report, of all processes.
        cpu_ns: Option<u64> by Add,
        /// If the report does not cover everything since `started`, the time from there to its beginning, in nanoseconds: to the `reset` or
        /// `take` before it, or to the beginning of its session.
        since_ns: Option<u64>,
        /// How the process ended; `None` if the report was made while it ran.
        ended: Option<Ended> => Option<&Ended> = as_ref(),
    }
}

impl Process {
    /// The times at which the report begins and ends, in nanoseconds after `started`.
    #[doc(hidden)]
    pub fn span(&self) -> (u64, u64) {
        let begin = self.since_ns.unwrap_or(0);
        (begin, begin.saturating_add(self.duration_ns))
    }

    /// Makes the report begin and end at these times.
    #[doc(hidden)]
    pub fn set_span(&mut self, (begin, end): (u64, u64)) {
        self.since_ns = Some(begin).filter(|&begin| begin != 0);
        self.duration_ns = end.saturating_sub(begin);
    }
}

data! {
    /// How a process ended.
    pub struct Ended {
        /// `exit` (`main` returned, or `exit` was called) or `signal`.
        reason: String => &str,
        /// The exit code, if the C library passes it.
        code: Option<u32>,
        /// The signal's name: `SIGINT`, `SIGTERM`, `SIGHUP`.
        signal: Option<String> => Option<&str> = as_deref(),
    }
}
