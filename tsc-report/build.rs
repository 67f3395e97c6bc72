//! Decides what the rest of the crate asks with `cfg`: whether a report can have callsites in this build.

use std::env;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(has_callsites)");
    if is_set("CARGO_FEATURE_CALLSITES") || is_set("CARGO_FEATURE_DEBUG_BUILDS") && is_debug() {
        println!("cargo::rustc-cfg=has_callsites");
    }
    println!("cargo::rerun-if-changed=build.rs");
}

/// As in `tsc-runtime/build.rs`, which explains it: where that crate measures, reports have callsites.
fn is_debug() -> bool {
    is_set("CARGO_CFG_DEBUG_ASSERTIONS")
        || env::var("PROFILE").is_ok_and(|profile| profile == "debug")
}

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some()
}
