//! Those that need `std`. They compile, and do nothing.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::{gate, switch::switch};
use tsc_report::Report;

/// Prints once on standard error that nothing is measured, and why, unless `TSC_REPORT` is off. No other variable has an effect.
pub fn report() {
    static SAID: AtomicBool = AtomicBool::new(false);
    let form = std::env::var("TSC_REPORT").unwrap_or_default();
    if switch(&form) != Some(false) && !SAID.swap(true, Relaxed) {
        // If standard error is closed, nobody wants the line.
        let _: io::Result<()> = write!(io::stderr(), "{}", snapshot());
    }
}

/// An empty report, which contains the reason for that.
#[must_use]
pub fn snapshot() -> Report {
    Report {
        nothing_because: gate::reason_against().map(str::to_owned),
        ..Report::default()
    }
}

/// Writes to the file that nothing is measured, and why.
///
/// # Errors
///
/// The file cannot be written.
pub fn dump_to(path: impl AsRef<Path>) -> io::Result<()> {
    std::fs::write(path, snapshot().to_string())
}

/// A session of which nothing is reported.
#[derive(Debug)]
#[must_use = "a session lasts until it is dropped"]
pub struct Session(());

/// Does nothing.
pub fn session() -> Session {
    Session(())
}

impl Session {
    /// A report of no callsite.
    #[must_use]
    pub fn report(&self) -> Report {
        snapshot()
    }
}

// So that a variable that only keeps the session alive causes no warning, as in builds that measure.
impl Drop for Session {
    fn drop(&mut self) {}
}

/// Does nothing: no line is printed.
pub fn gclk_to(_output: impl std::io::Write + Send + 'static) {}
