//! Escape sequences for colour, if the output is to have it. They take no columns.

/// Whether to colour.
#[derive(Clone, Copy)]
pub(super) struct Style {
    colour: bool,
}

impl Style {
    pub(super) fn new(colour: bool) -> Self {
        Self { colour }
    }

    /// For text that is not a figure.
    pub(super) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// For the rows that take the most.
    pub(super) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    /// For what makes figures doubtful.
    pub(super) fn doubtful(self, text: &str) -> String {
        self.with("33", text)
    }

    /// For what makes figures useless.
    pub(super) fn bad(self, text: &str) -> String {
        self.with("31", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.colour && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}
