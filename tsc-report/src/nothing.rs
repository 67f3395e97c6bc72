//! The dump of a report without callsites.

/// Says why nothing was measured, if there is a reason.
pub(crate) fn line(reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("tsc: nothing was measured: {reason}"),
        None => "tsc: no annotated function was called".to_owned(),
    }
}
