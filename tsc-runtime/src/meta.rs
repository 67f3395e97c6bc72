//! How an expansion writes down what it knows: with as few tokens as that takes, since every annotated function has them.

use crate::callsite::{Meta, Unit};

/// What every function has. `_inside` is something defined in it; the file is the caller's.
#[must_use]
#[track_caller]
pub const fn meta<T>(_inside: &T, module: &'static str, line: u32) -> Meta {
    Meta {
        name: None,
        path: core::any::type_name::<T>,
        module,
        file: core::panic::Location::caller().file(),
        line,
        unit: None,
    }
}

impl Meta {
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
