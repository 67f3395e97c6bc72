//! One row of the table.

use crate::table::row;

/// Prints what was measured beside what it must be.
pub fn print(what: &str, must: &str, measured: String, met: bool) {
    let met = if met { "yes" } else { "no" };
    row(&[what.to_owned(), must.to_owned(), measured, met.to_owned()]);
}
