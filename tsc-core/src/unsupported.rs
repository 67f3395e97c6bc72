//! Targets on which nothing can be measured. A single error gives the reason and the remedy, in place of one error for each missing item.

#![cfg(all(measuring, any(target_os = "none", not(target_has_atomic = "64"))))]

#[cfg(target_os = "none")]
compile_error!(
    "tsc-runtime cannot measure on this target: it has no operating system, and so no `std`. Depend on tsc-runtime with \
     `default-features = false`, and let no crate ask for its features `debug-builds` and `release-builds`: `#[cycles]` then leaves \
     functions as they are"
);

#[cfg(not(target_os = "none"))]
compile_error!(
    "tsc-runtime cannot measure on this target: it has no atomic integers of 64 bits, in which records are kept. Depend on \
     tsc-runtime with `default-features = false`, and let no crate ask for its features `debug-builds` and `release-builds`: \
     `#[cycles]` then leaves functions as they are"
);

// This expands without end on purpose: the compiler stops here, before it reports what is missing.
macro_rules! stop_here {
    () => {
        stop_here!();
    };
}
stop_here!();
