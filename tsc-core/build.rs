//! Decides what the rest of the crate asks with `cfg`: whether it measures in this build, whether the target is Linux on x86, where threads
//! detect their interruptions, and whether the code may use the registers of APX.

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
    if is("CARGO_CFG_TARGET_ARCH", &["x86_64"]) && may_use_apx() {
        println!("cargo::rustc-cfg=apx");
    }
    println!("cargo::rerun-if-changed=build.rs");
}

/// Whether the compiler may use the registers R16 to R31. Rust has no stable name for this feature, so no `cfg` tells of it.
fn may_use_apx() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let has = |name: &str| flags.contains(name);
    has("egpr")
        || has("apx")
        || has("target-cpu=diamondrapids")
        || has("target-cpu=novalake")
        || has("target-cpu=native") && has_apx()
}

/// Whether this CPU has them.
fn has_apx() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: all CPUs with 64 bits have this instruction.
        #[allow(unused_unsafe, reason = "in newer versions of Rust, the call is safe")]
        let features = unsafe { std::arch::x86_64::__cpuid_count(7, 1) };
        features.edx >> 21 & 1 != 0
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}
