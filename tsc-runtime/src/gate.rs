//! Whether annotated functions are measured, as far as this crate's features and a profile decide it.

#![cfg(not(target_os = "none"))]

/// Why the annotated functions of a crate that was built like this one are not measured. `None` if they are measured.
pub(crate) const fn reason_against() -> Option<&'static str> {
    if cfg!(feature = "release-builds") {
        None
    } else if cfg!(not(feature = "debug-builds")) {
        Some("tsc-runtime was built with neither `debug-builds` nor `release-builds`")
    } else if cfg!(all(measuring, debug_assertions)) {
        None
    } else {
        Some(
            "release builds are measured with the feature `release-builds` of tsc-runtime, which this one was built without",
        )
    }
}
