//! Decides what the rest of the crate asks with `cfg`: whether it measures in this build, and whether the target is Linux on x86, where
//! threads detect their interruptions.

use std::env;

fn main() {
    let is_set = |name: &str| env::var_os(name).is_some();
    let is = |name: &str, values: &[&str]| env::var(name).is_ok_and(|it| values.contains(&&*it));
    // With the feature `debug-builds`, `#[cycles]` measures in crates with debug assertions. The crates' own decide, but only those of this
    // crate are known here. Unless a profile has assertions for single packages, they are the same. Versions of Cargo that tell nothing about
    // assertions tell the profile from which this one inherits. It counts in any case, because in a `dev` profile that takes the assertions
    // away from dependencies, the program keeps its own.
    let is_debug = is_set("CARGO_CFG_DEBUG_ASSERTIONS") || is("PROFILE", &["debug"]);
    if is_set("CARGO_FEATURE_ON") || is_set("CARGO_FEATURE_DEBUG_BUILDS") && is_debug {
        println!("cargo::rustc-cfg=measuring");
    }
    if is("CARGO_CFG_TARGET_OS", &["linux"]) && is("CARGO_CFG_TARGET_ARCH", &["x86", "x86_64"]) {
        println!("cargo::rustc-cfg=linux_x86");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
