//! The line on a terminal that shows how far a measurement is.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::tsc;

/// How often the line changes: a terminal takes its time, which must not become the measurement's.
const INTERVAL: Duration = Duration::from_millis(100);

/// A line on stderr that is written over, if stderr is a terminal; nothing otherwise.
pub(crate) struct Progress {
    shown: Option<Instant>,
    is_terminal: bool,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            shown: None,
            // Where RDTSC is forbidden `Instant` is as well, which this needs.
            is_terminal: io::stderr().is_terminal() && tsc::detect().is_ok(),
        }
    }

    /// Shows `line` unless the last one is too young.
    pub(crate) fn show(&mut self, line: impl FnOnce() -> String) {
        if !self.is_terminal || self.shown.is_some_and(|shown| shown.elapsed() < INTERVAL) {
            return;
        }
        // Whoever closed stderr does not want to know.
        let _ = write!(io::stderr(), "\r\x1b[K{}", line());
        self.shown = Some(Instant::now());
    }

    /// Takes the line away.
    pub(crate) fn clear(&mut self) {
        if self.shown.take().is_some() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
