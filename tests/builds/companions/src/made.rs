//! Counts the calls that were made, for the test to compare with the report.

/// Prints that `calls` calls of the function `name` have returned.
pub(crate) fn calls(name: &str, calls: u64) {
    println!("{name} calls {calls}");
}

/// Prints that `futures` futures of the function `name` were dropped before completion.
#[cfg(feature = "companions")]
pub(crate) fn cancelled(name: &str, futures: u64) {
    println!("{name} cancelled {futures}");
}
