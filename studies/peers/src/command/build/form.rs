//! How each profiler is added to many functions, and how it is turned off, as its documentation says.

use std::path::Path;

use crate::command::machine::version;

/// A crate, and how it is depended on.
#[derive(Clone, Copy)]
pub(crate) struct Dependency {
    name: &'static str,
    defaults: bool,
    features: &'static [&'static str],
}

pub(crate) const fn with(name: &'static str, features: &'static [&'static str]) -> Dependency {
    Dependency {
        name,
        defaults: true,
        features,
    }
}

const fn without_defaults(name: &'static str, features: &'static [&'static str]) -> Dependency {
    Dependency {
        name,
        defaults: false,
        features,
    }
}

impl Dependency {
    /// The line of a manifest: of this crate the path, of others the version in the lock file.
    pub(crate) fn line(&self) -> String {
        let Self {
            name,
            defaults,
            features,
        } = self;
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tsc-runtime");
        let source = match *name {
            "tsc-runtime" => format!("path = {runtime:?}"),
            _ => format!("version = \"={}\"", version(name)),
        };
        format!("{name} = {{ {source}, default-features = {defaults}, features = {features:?} }}\n")
    }
}

pub(crate) type Dependencies = &'static [Dependency];

/// A way of annotating. `NUMBER` in its texts is the function's.
pub(crate) struct Form {
    pub(crate) label: &'static str,
    pub(crate) dependencies: Dependencies,
    /// Stands first in the crate.
    pub(crate) prelude: &'static str,
    /// Stands before each function.
    pub(crate) attribute: &'static str,
    /// Stands first in each.
    pub(crate) statement: &'static str,
    /// Stands around the value of each, where it has one here.
    pub(crate) tail: [&'static str; 2],
    /// Stands before `main`, and first in it.
    pub(crate) main: [&'static str; 2],
    pub(crate) off: Off,
}

pub(crate) enum Off {
    /// By a build with these dependencies; how that is called.
    By(&'static [(&'static str, Dependencies)]),
    /// Not by any build; what it has instead.
    Never(&'static str),
}

pub(crate) const BARE: Form = Form {
    label: "bare",
    dependencies: &[],
    prelude: "",
    attribute: "",
    statement: "",
    tail: ["", ""],
    main: ["", ""],
    off: Off::By(&[]),
};

pub(crate) const FORMS: [Form; 12] = [
    BARE,
    Form {
        label: "**cycles**",
        dependencies: &[with("tsc-runtime", &["release-builds"])],
        attribute: "#[tsc_runtime::cycles]",
        off: Off::By(&[
            ("a release build", &[with("tsc-runtime", &[])]),
            ("no feature", &[without_defaults("tsc-runtime", &[])]),
        ]),
        ..BARE
    },
    Form {
        label: "**cycles**, off",
        dependencies: &[without_defaults("tsc-runtime", &[])],
        attribute: "#[tsc_runtime::cycles]",
        ..BARE
    },
    Form {
        label: "hotpath",
        dependencies: &[with("hotpath", &["hotpath"])],
        attribute: "#[hotpath::measure]",
        main: ["#[hotpath::main]", ""],
        off: Off::By(&[("without its feature `hotpath`", &[with("hotpath", &[])])]),
        ..BARE
    },
    Form {
        label: "time-graph",
        dependencies: &[with("time-graph", &[])],
        attribute: "#[time_graph::instrument]",
        main: ["", "time_graph::enable_data_collection(true);"],
        off: Off::Never("no off but while it runs, `enable_data_collection(false)`"),
        ..BARE
    },
    Form {
        label: "tsc-trace",
        dependencies: &[with("tsc-trace", &[])],
        prelude: "#[allow(unused_imports)]\nuse tsc_trace::*;",
        statement: "trace_span!(NUMBER);",
        main: ["", "write_traces_csv(&mut std::io::stdout()).unwrap();"],
        off: Off::By(&[("feature `off`", &[with("tsc-trace", &["off"])])]),
        ..BARE
    },
    Form {
        label: "coarse-prof",
        dependencies: &[with("coarse-prof", &[])],
        statement: "coarse_prof::profile!(\"fNUMBER\");",
        main: ["", "coarse_prof::write(&mut std::io::stdout()).unwrap();"],
        off: Off::Never("no off"),
        ..BARE
    },
    Form {
        label: "fastrace",
        dependencies: &[with("fastrace", &["enable"])],
        attribute: "#[fastrace::trace]",
        main: [
            "",
            "use fastrace::{Span, collector::{Config, ConsoleReporter, SpanContext}};\n    \
             fastrace::set_reporter(ConsoleReporter, Config::default());\n    \
             let root = Span::root(\"main\", SpanContext::random());\n    let _guard = root.set_local_parent();",
        ],
        off: Off::By(&[("without its feature `enable`", &[with("fastrace", &[])])]),
        ..BARE
    },
    Form {
        label: "tracing + tracing-timing",
        dependencies: &[
            with("tracing", &[]),
            without_defaults("tracing-subscriber", &["registry", "std"]),
            with("tracing-timing", &[]),
        ],
        attribute: "#[tracing::instrument(skip_all)]",
        main: [
            "",
            "use tracing_subscriber::{Layer as _, Registry};\n    use tracing_timing::{Builder, Histogram};\n    \
             let layer = Builder::default().span_close_events().no_span_recursion().layer(|| Histogram::new_with_max(1_000_000, 2).unwrap());\n    \
             let dispatch = tracing::Dispatch::new(layer.with_subscriber(Registry::default()));\n    \
             tracing::dispatcher::set_global_default(dispatch).unwrap();",
        ],
        off: Off::By(&[(
            "feature `release_max_level_off`",
            &[with("tracing", &["release_max_level_off"])],
        )]),
        ..BARE
    },
    Form {
        label: "puffin",
        dependencies: &[with("puffin", &[])],
        statement: "puffin::profile_function!();",
        main: [
            "",
            "puffin::set_scopes_on(true);\n    puffin::GlobalProfiler::lock().new_frame();",
        ],
        off: Off::Never("no off but while it runs, `set_scopes_on(false)`"),
        ..BARE
    },
    Form {
        label: "profiling, over puffin",
        dependencies: &[with("profiling", &["profile-with-puffin"])],
        attribute: "#[profiling::function]",
        main: [
            "",
            "profiling::puffin::set_scopes_on(true);\n    profiling::finish_frame!();",
        ],
        off: Off::By(&[("without a backend's feature", &[with("profiling", &[])])]),
        ..BARE
    },
    Form {
        label: "tracy-client",
        // As the contestant: neither broadcast nor system tracing.
        dependencies: &[without_defaults(
            "tracy-client",
            &["enable", "only-localhost"],
        )],
        statement: "let _span = tracy_client::span!();",
        main: ["", "let _client = tracy_client::Client::start();"],
        off: Off::By(&[(
            "without its feature `enable`",
            &[without_defaults("tracy-client", &[])],
        )]),
        ..BARE
    },
];
