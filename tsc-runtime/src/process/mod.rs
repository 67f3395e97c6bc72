//! What belongs to a whole process: values that the child of a fork does not share, file descriptors, threads, and libraries that must stay mapped.

pub(crate) mod cpu_time;
#[cfg(all(target_os = "linux", not(miri)))]
#[cfg_attr(
    not(any(feature = "pmu", target_arch = "x86", target_arch = "x86_64")),
    allow(dead_code, reason = "nothing is kept open there")
)]
mod descriptor;
#[cfg(all(unix, not(miri)))]
mod file_identity;
mod mapped;
pub(crate) mod memory;
mod per_process;
#[cfg_attr(any(miri, target_family = "wasm", shuttle), allow(dead_code))]
pub(crate) mod thread;

#[cfg(all(
    target_os = "linux",
    not(miri),
    any(feature = "pmu", target_arch = "x86", target_arch = "x86_64")
))]
pub(crate) use descriptor::OwnDescriptor;
#[cfg(all(unix, not(miri)))]
pub(crate) use file_identity::FileIdentity;
pub(crate) use mapped::keep_mapped;
pub(crate) use per_process::PerProcess;

/// The process's number; 0 on WebAssembly, which has none and where std's function panics.
pub(crate) fn id() -> u32 {
    if cfg!(target_family = "wasm") {
        0
    } else {
        std::process::id()
    }
}
