//! Names of sessions, which are names of folders.

use anyhow::{Result, bail};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};
use tsc_report::Report;

/// Whether a session may have this name.
pub(super) fn is_file_name(name: &str) -> bool {
    let allowed = |byte: char| byte.is_alphanumeric() || matches!(byte, '-' | '_' | '.');
    !name.is_empty() && !name.starts_with('.') && name.chars().all(allowed)
}

/// Checks that a session can have this name, which is also that of its folder.
///
/// # Errors
/// If it cannot.
pub fn check_name(name: &str) -> Result<()> {
    if !is_file_name(name) {
        bail!("--name {name}: use letters, digits, '-', '_' and '.', and do not begin with '.'");
    }
    Ok(())
}

/// The local time as a name that can be sorted: `2026-11-21-193000`.
pub(super) fn now() -> String {
    ZonedDateTime::now().strftime("%Y-%m-%d-%H%M%S").to_string()
}

/// The local time at which a report's process began to measure, as people write it. Empty if it is not known.
#[must_use]
pub fn local_start(report: &Report) -> String {
    let started: Result<Timestamp, _> = report.process().started().parse();
    let local = started.map(|started| started.to_zoned_datetime(TimeZone::system()));
    let text = local.map(|local| local.strftime("%Y-%m-%d %H:%M:%S").to_string());
    text.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_leave_the_folder() {
        for name in ["", "..", "a/b", ".hidden", "a b"] {
            assert!(!is_file_name(name), "{name}");
        }
        assert!(is_file_name("base-1.2_x"));
    }
}
