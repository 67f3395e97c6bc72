//! What threads share their data by: atomics, a lock, thread-local values, and waiting.
//!
//! These are the ones of the standard library and of parking_lot. In `tests/interleavings`, where `cfg(shuttle)` is set, they have the same
//! names and the same layout, and Shuttle chooses which thread runs next before each of their operations. They stand there, because no program
//! has them.

#![cfg(measuring)]

#[cfg(all(test, shuttle))]
#[path = "../../../tests/interleavings/check.rs"]
pub(crate) mod check;
#[cfg(shuttle)]
#[path = "../../../tests/interleavings/scheduled.rs"]
pub(crate) mod scheduled;

#[cfg(not(shuttle))]
mod lock;

#[cfg(not(shuttle))]
mod ordinary {
    pub(crate) use core::hint::spin_loop;
    pub(crate) use core::sync::atomic;
    pub(crate) use std::thread::sleep;
    pub(crate) use std::thread_local;

    pub(crate) use super::lock::{Mutex, never_park};
}

#[cfg(not(shuttle))]
pub(crate) use ordinary::*;
#[cfg(shuttle)]
pub(crate) use scheduled::{Mutex, atomic, sleep, spin_loop, thread_local};
