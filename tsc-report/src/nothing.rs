//! The dump of a report without callsites.

use std::fmt;

/// Writes a line that says why nothing was measured, if there is a reason.
pub(crate) fn write(out: &mut dyn fmt::Write, reason: Option<&str>) -> fmt::Result {
    match reason {
        Some(reason) => writeln!(out, "tsc: nothing was measured: {reason}"),
        None => writeln!(out, "tsc: no annotated function was called"),
    }
}
