//! What of an annotation costs what: `#[cycles]`'s expansion written out, and then less and less of it.
//!
//! The texts are what the macro prints, so they follow it: if one does not build, its row says so.

use super::form::{BARE, Form, with};

/// The parts that no step leaves out.
const WRITTEN_OUT: Form = Form {
    dependencies: &[with("tsc-runtime", &["release-builds"])],
    prelude: "#![allow(unused)]\n\
              use tsc_runtime::__private::*;\n\
              fn path() -> &'static str { \"\" }\n\
              static SHARED: Callsite = Callsite::new::<Lfence>(Meta::at(path, module_path!(), file!(), 0));",
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
        statement: "let mut slot = Slot::new();\n    let probe = {\n    \
                    static CALLSITE: Callsite = Callsite::new::<Lfence>(Meta::at(path_of(&|| {}), module_path!(), file!(), NUMBER));\n    \
                    escape(&a);\n    escape(&b);\n    Probe::<Lfence>::start(&CALLSITE, &mut slot)\n    };",
        tail: ["result(", ")"],
        ..WRITTEN_OUT
    },
    Form {
        label: "… without a name of its own",
        statement: "let mut slot = Slot::new();\n    let probe = {\n    \
                    static CALLSITE: Callsite = Callsite::new::<Lfence>(Meta::at(path, module_path!(), file!(), NUMBER));\n    \
                    escape(&a);\n    escape(&b);\n    Probe::<Lfence>::start(&CALLSITE, &mut slot)\n    };",
        tail: ["result(", ")"],
        ..WRITTEN_OUT
    },
    Form {
        label: "… nor a static of its own",
        statement: "let mut slot = Slot::new();\n    let probe = {\n    escape(&a);\n    escape(&b);\n    \
                    Probe::<Lfence>::start(&SHARED, &mut slot)\n    };",
        tail: ["result(", ")"],
        ..WRITTEN_OUT
    },
    Form {
        label: "… nor arguments and result kept in place: the probe alone",
        statement: "let mut slot = Slot::new();\n    let probe = Probe::<Lfence>::start(&SHARED, &mut slot);",
        ..WRITTEN_OUT
    },
];
