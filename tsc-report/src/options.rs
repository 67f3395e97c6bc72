//! The options of the report as text.

use crate::__named as named;

// Input:  options! { /// Docs. pub struct Options { /// Sets the unit. unit: Unit = Unit::Time, … } }
// Output: the struct, its default, and for each option a function of its name that sets it
macro_rules! options {
    ($(#[$struct_attr:meta])* pub struct $name:ident {
        $($(#[$attr:meta])+ $option:ident: $type:ty = $default:expr,)*
    }) => {
        $(#[$struct_attr])*
        pub struct $name {
            $(pub(crate) $option: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($option: $default,)* }
            }
        }

        impl $name {
            $(
                $(#[$attr])+
                #[must_use]
                pub fn $option(self, $option: $type) -> Self {
                    Self { $option, ..self }
                }
            )*
        }
    };
}

options! {
    /// The options of the report as text. By default it is 100 columns wide, with times in readable units, sorted by self ticks, with all rows and
    /// without colour.
    ///
    /// ```
    /// use tsc_runtime::{TextOptions, TextSort, TextUnit};
    ///
    /// let options = TextOptions::default().unit(TextUnit::Cycles).sort(TextSort::Calls).top(10);
    /// print!("{}", tsc_runtime::snapshot().to_text(&options));
    /// ```
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct TextOptions {
        /// Selects how much of the report is written.
        form: TextForm = TextForm::Short,
        /// Sets the width in columns. As many columns of the table are written as fit, but at least name, total and share, which need 80.
        width: usize = 100,
        /// Sets the unit of the figures.
        unit: TextUnit = TextUnit::Time,
        /// Sets the order of the rows.
        sort: TextSort = TextSort::SelfTicks,
        /// Limits the number of rows.
        top: usize = usize::MAX,
        /// Sets whether to write the escape sequences for colour.
        color: bool = false,
        /// Sets whether all names are preceded by their modules. By default only those are that would otherwise be equal.
        modules: bool = false,
        /// Sets whether each row is followed by its slowest calls. The full form has them anyway.
        slowest: bool = false,
        /// Makes the text name the options of `cargo tsc` in place of variables.
        #[doc(hidden)]
        command_line: bool = false,
        /// Sets whether the attributes are in the user's own source, where they can be changed.
        #[doc(hidden)]
        own_attributes: bool = true,
    }
}

impl TextOptions {
    /// The full form is as wide as it needs to be, in ticks, and with the slowest calls.
    pub(crate) fn of_form(&self) -> Self {
        if self.form == TextForm::Full {
            let options = self.clone().unit(TextUnit::Ticks).slowest(true);
            return options.width(usize::MAX);
        }
        self.clone().width(self.width_of_lines())
    }

    /// No width is too small for the first columns.
    pub(crate) fn width_of_lines(&self) -> usize {
        self.width.max(80)
    }

    pub(crate) fn name_of(&self, variable: &'static str, option: &'static str) -> &'static str {
        if self.command_line { option } else { variable }
    }
}

named! {
    /// How much of a report is written.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum TextForm {
        /// As many columns as fit, and remarks where they change the meaning of a row.
        #[default]
        Short = "text",
        /// The same, with each row's distribution below it.
        Histogram = "histogram",
        /// Every column at any width, how net ticks follow from raw ones, and every doubtful finding of the short self-test, with its reason.
        Full = "full",
    }
}

named! {
    /// The unit of the figures. GCLK's column, the total, is in ticks whatever it is.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum TextUnit {
        /// Times with three digits and their unit, from nanoseconds to seconds, at the counter's rate.
        #[default]
        Time = "time",
        /// Ticks, as they were counted.
        Ticks = "ticks",
        /// Core cycles, at the ratio that was measured while the program ran.
        Cycles = "cycles",
    }
}

named! {
    /// The order of the rows.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum TextSort {
        /// By ticks outside annotated callees; on the CPU if that is known.
        #[default]
        SelfTicks = "self",
        /// By inclusive ticks, on the CPU and blocked.
        Total = "total",
        /// The same with the time waiting for a CPU.
        Wall = "wall",
        /// By ticks blocked outside annotated callees.
        Blocked = "blocked",
        /// By the number of calls.
        Calls = "calls",
        /// By the mean.
        Mean = "mean",
        /// By the 99th percentile.
        P99 = "p99",
        /// By the longest call.
        Max = "max",
        /// Alphabetically by name.
        Name = "name",
    }
}
