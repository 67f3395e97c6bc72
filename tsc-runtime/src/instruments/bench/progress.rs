//! The progress line of a measurement, on a terminal.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::tsc;

/// The shortest time between two changes of the line. Writing to a terminal takes time, which must not disturb the measurement.
const INTERVAL: Duration = Duration::from_millis(100);

/// A line on standard error that overwrites itself, if standard error is a terminal; otherwise nothing is written.
pub(crate) struct Progress {
    shown: Option<Instant>,
    is_terminal: bool,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            shown: None,
            // `show` needs `Instant`, which reads the counter, too. Where RDTSC is forbidden, `Instant` would end the process.
            is_terminal: io::stderr().is_terminal() && tsc::detect().is_ok(),
        }
    }

    /// Shows `line`, unless the line changed less than [`INTERVAL`] ago.
    pub(crate) fn show(&mut self, line: impl FnOnce() -> String) {
        if !self.is_terminal || self.shown.is_some_and(|shown| shown.elapsed() < INTERVAL) {
            return;
        }
        // If standard error is closed, nobody wants the line.
        let _ = write!(io::stderr(), "\r\x1b[K{}", line());
        self.shown = Some(Instant::now());
    }

    /// Removes the line.
    pub(crate) fn clear(&mut self) {
        if self.shown.take().is_some() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
