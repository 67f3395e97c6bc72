//! Exports the two symbols of `src/rseq.rs`, so that the whole process uses them.

fn main() {
    println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol=__rseq_offset");
    println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol=__rseq_size");
    println!("cargo:rerun-if-changed=build.rs");
}
