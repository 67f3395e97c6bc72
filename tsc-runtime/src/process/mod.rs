//! What belongs to a whole process: values that the child of a fork does not share, and libraries that must stay mapped.

pub(crate) mod cpu_time;
mod mapped;
mod per_process;

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
