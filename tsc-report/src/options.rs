//! The options of the report as text.

/// The options of the report as text. By default it is 100 columns wide, with times in readable units, sorted by self ticks, with all rows and without colour.
///
/// ```
/// use tsc_runtime::{TextOptions, TextSort, TextUnit};
///
/// let options = TextOptions::default().unit(TextUnit::Cycles).sort(TextSort::Calls).top(10);
/// print!("{}", tsc_runtime::snapshot().to_text(&options));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextOptions {
    pub(crate) form: TextForm,
    pub(crate) width: usize,
    pub(crate) unit: TextUnit,
    pub(crate) sort: TextSort,
    pub(crate) top: Option<usize>,
    pub(crate) color: bool,
    pub(crate) modules: bool,
    pub(crate) command_line: bool,
    pub(crate) slowest: bool,
}

/// How much of a report is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextForm {
    /// As many columns as fit, and remarks where they change the meaning of a row.
    #[default]
    Short,
    /// The same, with each row's distribution below it.
    Histogram,
    /// Every column at any width, how net ticks follow from raw ones, and every finding of the self-test.
    Full,
}

/// The unit of the figures. GCLK's column, the total, is in ticks whatever it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextUnit {
    /// Times with three digits and their unit, from nanoseconds to seconds, at the counter's rate.
    #[default]
    Time,
    /// Ticks, as they were counted.
    Ticks,
    /// Core cycles, at the ratio that was measured while the program ran.
    Cycles,
}

/// The order of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextSort {
    /// By ticks outside annotated callees; on the CPU if that is known.
    #[default]
    SelfTicks,
    /// By inclusive ticks, on the CPU and blocked.
    Total,
    /// The same with the time waiting for a CPU.
    Wall,
    /// By ticks blocked outside annotated callees.
    Blocked,
    /// By the number of calls.
    Calls,
    /// By the mean.
    Mean,
    /// By the 99th percentile.
    P99,
    /// By the longest call.
    Max,
    /// Alphabetically by name.
    Name,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            form: TextForm::default(),
            width: 100,
            unit: TextUnit::default(),
            sort: TextSort::default(),
            top: None,
            color: false,
            modules: false,
            command_line: false,
            slowest: false,
        }
    }
}

impl TextOptions {
    /// Selects how much of the report is written.
    #[must_use]
    pub fn form(self, form: TextForm) -> Self {
        Self { form, ..self }
    }

    /// Sets the width in columns. As many columns of the table are written as fit, but at least name, total and share, which need 80.
    #[must_use]
    pub fn width(self, width: usize) -> Self {
        let width = width.max(80);
        Self { width, ..self }
    }

    /// Sets the unit of the figures.
    #[must_use]
    pub fn unit(self, unit: TextUnit) -> Self {
        Self { unit, ..self }
    }

    /// Sets the order of the rows.
    #[must_use]
    pub fn sort(self, sort: TextSort) -> Self {
        Self { sort, ..self }
    }

    /// Limits the number of rows.
    #[must_use]
    pub fn top(self, rows: usize) -> Self {
        let top = Some(rows);
        Self { top, ..self }
    }

    /// Sets whether all names are preceded by their modules. By default only those are that would otherwise be equal.
    #[must_use]
    pub fn modules(self, modules: bool) -> Self {
        Self { modules, ..self }
    }

    /// Makes the text name the options of `cargo tsc` in place of variables.
    #[doc(hidden)]
    #[must_use]
    pub fn command_line(self) -> Self {
        let command_line = true;
        Self {
            command_line,
            ..self
        }
    }

    /// The full form is as wide as it needs to be, in ticks, and with the slowest calls.
    pub(crate) fn of_form(self) -> Self {
        if self.form != TextForm::Full {
            return self;
        }
        Self {
            width: usize::MAX,
            unit: TextUnit::Ticks,
            slowest: true,
            ..self
        }
    }

    pub(crate) fn name_of(&self, variable: &'static str, option: &'static str) -> &'static str {
        if self.command_line { option } else { variable }
    }

    /// Sets whether each row is followed by its slowest calls. The full form has them anyway.
    #[must_use]
    pub fn slowest(self, slowest: bool) -> Self {
        Self { slowest, ..self }
    }

    /// Sets whether to write the escape sequences for colour.
    #[must_use]
    pub fn color(self, color: bool) -> Self {
        Self { color, ..self }
    }
}

impl TextUnit {
    /// All units with their names.
    pub const NAMES: &'static [(&'static str, Self)] = &[
        ("time", Self::Time),
        ("ticks", Self::Ticks),
        ("cycles", Self::Cycles),
    ];

    /// The unit with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let mut all = Self::NAMES.iter();
        all.find(|(its, _)| *its == name).map(|&(_, unit)| unit)
    }
}

impl TextSort {
    /// All orders with their names.
    pub const NAMES: &'static [(&'static str, Self)] = &[
        ("self", Self::SelfTicks),
        ("total", Self::Total),
        ("wall", Self::Wall),
        ("blocked", Self::Blocked),
        ("calls", Self::Calls),
        ("mean", Self::Mean),
        ("p99", Self::P99),
        ("max", Self::Max),
        ("name", Self::Name),
    ];

    /// The order with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let mut all = Self::NAMES.iter();
        all.find(|(its, _)| *its == name).map(|&(_, sort)| sort)
    }
}
