//! Decides what the rest of the crate asks with `cfg`: whether a report can have callsites in this build.

use std::env;

fn main() {
    let is_set = |name: &str| env::var_os(name).is_some();
    // As in `tsc-core/build.rs`, which explains it: where that crate measures, reports have callsites.
    let is_debug =
        is_set("CARGO_CFG_DEBUG_ASSERTIONS") || env::var("PROFILE") == Ok("debug".into());
    if is_set("CARGO_FEATURE_CALLSITES") || is_set("CARGO_FEATURE_DEBUG_BUILDS") && is_debug {
        println!("cargo::rustc-cfg=has_callsites");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
