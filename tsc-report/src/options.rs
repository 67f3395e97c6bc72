//! The options of the report as text.

/// The options of the report as text. By default it is 100 columns wide, in ticks, sorted by self ticks, with all rows and without colour.
///
/// ```
/// use tsc_runtime::{TextOptions, TextSort, TextUnit};
///
/// let options = TextOptions::default().unit(TextUnit::Ns).sort(TextSort::Calls).top(10);
/// print!("{}", tsc_runtime::snapshot().text(&options));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextOptions {
    pub(crate) form: TextForm,
    pub(crate) width: usize,
    pub(crate) unit: TextUnit,
    pub(crate) sort: TextSort,
    pub(crate) top: Option<usize>,
    pub(crate) colour: bool,
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

/// The unit of the ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextUnit {
    /// Ticks, as they were counted.
    #[default]
    Ticks,
    /// Nanoseconds, at the counter's rate.
    Ns,
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
    /// By inclusive ticks; on the CPU if that is known.
    Total,
    /// By inclusive ticks, on the CPU or not.
    Wall,
    /// By the number of calls.
    Calls,
    /// By the mean.
    Mean,
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
            colour: false,
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

    /// Sets the unit of the ticks.
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

    /// Sets whether to write the escape sequences for colour.
    #[must_use]
    pub fn colour(self, colour: bool) -> Self {
        Self { colour, ..self }
    }
}

impl TextUnit {
    /// The unit with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "ticks" => Some(Self::Ticks),
            "ns" => Some(Self::Ns),
            "cycles" => Some(Self::Cycles),
            _ => None,
        }
    }
}

impl TextSort {
    /// The order with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "self" => Some(Self::SelfTicks),
            "total" => Some(Self::Total),
            "wall" => Some(Self::Wall),
            "calls" => Some(Self::Calls),
            "mean" => Some(Self::Mean),
            "name" => Some(Self::Name),
            _ => None,
        }
    }
}
