//! Escape sequences for colour, if the output is to have it. They take no columns.

use super::Page;

/// For text that is not a figure.
pub(super) const DIM: &str = "2";
/// For the rows that take the most.
pub(super) const BOLD: &str = "1";
/// For what makes figures doubtful.
pub(super) const DOUBTFUL: &str = "33";
/// For what makes figures useless.
pub(super) const BAD: &str = "31";

impl Page<'_> {
    /// The text in one of these styles.
    pub(super) fn styled(&self, style: &str, text: &str) -> String {
        if self.options.color && !text.is_empty() {
            format!("\x1b[{style}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}
