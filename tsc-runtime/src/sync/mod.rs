//! What threads share their data by: atomics, a lock, thread-local values, and waiting.

#![cfg(feature = "on")]

pub(crate) use core::hint::spin_loop;
pub(crate) use core::sync::atomic;
pub(crate) use std::thread::sleep;
pub(crate) use std::thread_local;

pub(crate) use parking_lot::Mutex;
