//! The probe of a function, and the text that is inserted for it.

use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Which items get the attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// Every function that is not `const`, including nested ones.
    Functions,
    /// Like `Functions`, but without tests, and without functions that take less time than a probe: a straight line without a call, a loop
    /// or a macro, and what the compiler must inline, without a loop.
    Worthwhile,
    /// Every `impl`, `trait` and inline `mod` at the top level of a file, except a `mod` that rustc refuses behind an attribute.
    Blocks,
}

/// The kind of probe that a function gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Times every call.
    Timed,
    /// Counts every call, and tells its time from ticks of a clock.
    Light,
}

impl Probe {
    /// The text that is inserted.
    #[must_use]
    pub const fn attribute(self) -> &'static str {
        match self {
            Self::Timed => super::ATTRIBUTE,
            Self::Light => "#[::tsc_runtime::cycles(light /* cargo tsc */)] ",
        }
    }

    /// The word for it in the macros around closures.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Timed => "timed",
            Self::Light => "light",
        }
    }
}

/// The place of a function, as in a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The identifier, or `{closure#0}`.
    pub name: String,
    /// The line of the identifier, or in which what is measured of a closure begins, from 1.
    pub line: u32,
    /// The lines from its first attribute to its end.
    pub lines: RangeInclusive<u32>,
    /// Whether it has an attribute whose arguments permit both kinds of probe. It keeps its row: without a probe, it gets a light one.
    pub has_attribute: bool,
}

/// What makes a function measured, or not.
pub(super) struct Inserted {
    pub at: usize,
    pub text: Cow<'static, str>,
    pub probe: Option<Probe>,
}

impl Inserted {
    /// An attribute before the first token after a function's other attributes.
    pub(super) fn before(at: usize, probe: Probe) -> Self {
        Self {
            at,
            text: probe.attribute().into(),
            probe: Some(probe),
        }
    }

    /// A text that adds no probe.
    pub(super) fn text(at: usize, text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            at,
            text: text.into(),
            probe: None,
        }
    }
}
