//! Sets what the runtime is built with here.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Its locks, atomics and thread-local values are such that Shuttle can switch threads at each of them.
    println!("cargo::rustc-cfg=shuttle");
    // What it has for Miri is what is needed here, too: a counter and a detector of interruptions without assembly, which Shuttle would not
    // see, and no hooks in the operating system, which would call the runtime outside of a test.
    println!("cargo::rustc-cfg=miri");
    // What the runtime's own build script sets where it measures.
    for name in ["measuring", "has_callsites"] {
        println!("cargo::rustc-check-cfg=cfg({name})");
        println!("cargo::rustc-cfg={name}");
    }
    // What it has for Linux on x86, and for CPUs with APX, is left out.
    println!("cargo::rustc-check-cfg=cfg(apx, linux_x86)");
}
