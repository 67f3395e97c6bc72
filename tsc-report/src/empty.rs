//! Reports in builds in which none can have a callsite: nothing is measured, and no dump is read. They have the same functions as others,
//! and are all alike.

use std::fmt;

use crate::{CallsiteReport, MergeError, Report, TextOptions, nothing};

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", nothing::line(self.nothing_because()))
    }
}

impl Report {
    /// A line with the reason why nothing was measured.
    #[must_use]
    pub fn to_text(&self, _options: &TextOptions) -> String {
        self.to_string()
    }

    /// The same.
    #[must_use]
    pub fn to_text_where(
        &self,
        options: &TextOptions,
        _is_wanted: &dyn Fn(&CallsiteReport) -> bool,
    ) -> String {
        self.to_text(options)
    }

    /// Does nothing, because the other report contains nothing that could be added.
    ///
    /// # Errors
    ///
    /// This function does not fail.
    pub fn merge(&mut self, _other: &Self) -> Result<(), MergeError> {
        Ok(())
    }

    /// Does nothing, like [`merge`](Self::merge).
    ///
    /// # Errors
    ///
    /// This function does not fail.
    pub fn append(&mut self, _other: &Self) -> Result<(), MergeError> {
        Ok(())
    }

    /// A report of nothing, for the same reason.
    #[must_use]
    pub fn since(&self, _earlier: &Self) -> Option<Self> {
        let mut same = Self::default();
        same.nothing_because.clone_from(&self.nothing_because);
        Some(same)
    }

    /// OpenMetrics text without metrics.
    #[must_use]
    pub fn to_openmetrics(&self) -> String {
        "# EOF\n".to_owned()
    }

    /// No metrics.
    #[must_use]
    pub fn to_prometheus(&self) -> String {
        String::new()
    }
}
