//! The error of merging.

use crate::__reasons as reasons;

reasons! {
    /// Why two reports cannot be merged.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub enum MergeError {
        /// Their ticks come from different clocks.
        Source {
            /// The clock of the one report.
            one: String,
            /// The clock of the other report.
            other: String,
        } = ("ticks of {one} and ticks of {other} cannot be added"),
        /// Their ticks have different lengths.
        Rate {
            /// Ticks per second of the one report.
            one: f64,
            /// Ticks per second of the other report.
            other: f64,
        } = (
            "ticks at {:.3} MHz and ticks at {:.3} MHz cannot be added: compare the reports in seconds instead",
            one / 1e6,
            other / 1e6
        ),
    }
}
