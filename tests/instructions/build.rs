//! Makes the two symbols of `src/rseq.rs` those that the whole process sees.

fn main() {
    println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol=__rseq_offset");
    println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol=__rseq_size");
    println!("cargo:rerun-if-changed=build.rs");
}
