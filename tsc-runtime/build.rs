//! Decides what the rest of the crate asks with `cfg`: whether it measures in this build.

use std::env;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(measuring)");
    if is_set("CARGO_FEATURE_ON") || is_set("CARGO_FEATURE_DEBUG_BUILDS") && is_debug() {
        println!("cargo::rustc-cfg=measuring");
    }
    println!("cargo::rerun-if-changed=build.rs");
}

/// Whether `#[cycles]` measures with the feature `debug-builds`: in crates with debug assertions.
///
/// The crates' own assertions decide, but only those of this crate are known here. Unless a profile has assertions for single packages,
/// they are the same. Versions of Cargo that tell nothing about assertions tell the profile from which this one inherits. It counts in any
/// case, because in a `dev` profile that takes the assertions away from dependencies, the program keeps its own.
fn is_debug() -> bool {
    is_set("CARGO_CFG_DEBUG_ASSERTIONS")
        || env::var("PROFILE").is_ok_and(|profile| profile == "debug")
}

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some()
}
