//! Counts the calls that were made, for the test to compare with the report.

/// So many calls of the function `name` have returned.
pub(crate) fn calls(name: &str, calls: u64) {
    println!("{name} calls {calls}");
}

/// So many futures of the function `name` were dropped before completion.
#[cfg(feature = "companions")]
pub(crate) fn cancelled(name: &str, futures: u64) {
    println!("{name} cancelled {futures}");
}
