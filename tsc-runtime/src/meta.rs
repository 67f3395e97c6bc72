//! How an expansion writes down what it knows: with as few tokens as that takes, since every annotated function has them.

use crate::callsite::{Meta, Unit};

impl Meta {
    /// What every function has.
    #[must_use]
    pub const fn at(
        path: fn() -> &'static str,
        module: &'static str,
        file: &'static str,
        line: u32,
    ) -> Self {
        Self {
            name: None,
            path,
            module,
            file,
            line,
            unit: None,
        }
    }

    /// `name = "…"`.
    #[must_use]
    pub const fn named(self, name: &'static str) -> Self {
        Self {
            name: Some(name),
            ..self
        }
    }

    /// `bytes = …`.
    #[must_use]
    pub const fn bytes(self) -> Self {
        Self {
            unit: Some(Unit::Bytes),
            ..self
        }
    }

    /// `items = …`.
    #[must_use]
    pub const fn items(self) -> Self {
        Self {
            unit: Some(Unit::Items),
            ..self
        }
    }
}
