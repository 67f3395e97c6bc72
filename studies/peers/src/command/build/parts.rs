//! What the parts of an annotation cost: the expansion of `#[cycles]` written out by hand, with fewer and fewer parts.
//!
//! The texts are what the macro prints, so they must follow it. If they do not, their rows say that they cannot be built.

use super::form::{BARE, Form, with};

/// A static named after what `$inside` is.
macro_rules! callsite {
    ($name:literal, $inside:literal) => {
        concat!(
            "static ",
            $name,
            ": Callsite = Callsite::new::<Lfence>(meta(&",
            $inside,
            ", module_path!(), 0));"
        )
    };
}

macro_rules! probe {
    ($before:expr, $callsite:literal) => {
        concat!(
            "let mut slot = Slot::new();\n    let probe = { ",
            $before,
            " Probe::<Lfence>::start(&",
            $callsite,
            ", &mut slot) };"
        )
    };
}

const WRITTEN_OUT: Form = Form {
    attribute: "#[inline(never)]",
    dependencies: &[with("tsc-runtime", &["release-builds"])],
    prelude: concat!(
        "#![allow(unused)]\nuse tsc_runtime::__private::*;\n",
        callsite!("SHARED", "()")
    ),
    ..BARE
};

pub(crate) const PARTS: [Form; 6] = [
    BARE,
    Form {
        label: "`#[cycles]`",
        dependencies: WRITTEN_OUT.dependencies,
        attribute: "#[tsc_runtime::cycles]",
        ..BARE
    },
    Form {
        label: "the same, written out by hand",
        statement: probe!(callsite!("OWN", "|| {}"), "OWN"),
        tail: ["result(", ")"],
        ..WRITTEN_OUT
    },
    Form {
        label: "… without a name of its own",
        statement: probe!(callsite!("OWN", "()"), "OWN"),
        tail: ["result(", ")"],
        ..WRITTEN_OUT
    },
    Form {
        label: "… nor a static of its own",
        statement: probe!("", "SHARED"),
        tail: ["result(", ")"],
        ..WRITTEN_OUT
    },
    Form {
        label: "… nor the result kept in place: the probe alone",
        statement: probe!("", "SHARED"),
        ..WRITTEN_OUT
    },
];
