//! How a report is to be written for people.

/// How a report is written for people: by default 100 columns wide, in ticks, by self ticks, all rows, without colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextOptions {
    pub(super) form: TextForm,
    pub(super) width: usize,
    pub(super) unit: TextUnit,
    pub(super) sort: TextSort,
    pub(super) top: Option<usize>,
    pub(super) colour: bool,
}

/// What of a report is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextForm {
    /// As many columns as fit, and notes where they change what a row means.
    #[default]
    Short,
    /// The same, with each row's distribution below it.
    Histogram,
    /// Every column, however wide, how net came from raw, and every finding of the self-test.
    Full,
}

/// What ticks are written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextUnit {
    /// As they were counted.
    #[default]
    Ticks,
    /// Nanoseconds, at the counter's rate.
    Ns,
    /// Core cycles, at the ratio that was measured while the program ran.
    Cycles,
}

/// What comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextSort {
    /// The most ticks outside annotated callees; on the CPU, where that is known.
    #[default]
    SelfTicks,
    /// The most inclusive ticks; on the CPU, where that is known.
    Total,
    /// The most inclusive ticks, on the CPU or not.
    Wall,
    /// The most calls.
    Calls,
    /// The greatest mean.
    Mean,
    /// By the alphabet.
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
    /// What of the report is written.
    #[must_use]
    pub fn form(self, form: TextForm) -> Self {
        Self { form, ..self }
    }

    /// How many columns there are: as many of the table's as fit, and at least name, total and share, which take 80.
    #[must_use]
    pub fn width(self, width: usize) -> Self {
        let width = width.max(80);
        Self { width, ..self }
    }

    /// What ticks are written in.
    #[must_use]
    pub fn unit(self, unit: TextUnit) -> Self {
        Self { unit, ..self }
    }

    /// What comes first.
    #[must_use]
    pub fn sort(self, sort: TextSort) -> Self {
        Self { sort, ..self }
    }

    /// Only the first so many rows.
    #[must_use]
    pub fn top(self, rows: usize) -> Self {
        let top = Some(rows);
        Self { top, ..self }
    }

    /// Whether to write the escape sequences by which terminals colour.
    #[must_use]
    pub fn colour(self, colour: bool) -> Self {
        Self { colour, ..self }
    }
}

impl TextUnit {
    /// The unit of that name.
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
    /// The order of that name.
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
