//! What belongs to a whole process: values that the child of a fork does not share, file descriptors, threads, and libraries that must stay mapped.

#![cfg(measuring)]

mod cancellation;
mod clock_pair;
pub(crate) mod cpu_time;
#[cfg(all(target_os = "linux", not(miri), any(feature = "pmu", linux_x86)))]
mod descriptor;
mod errno;
mod file_identity;
mod mapped;
pub(crate) mod memory;
mod per_process;
#[cfg(unix)]
pub(crate) mod signals;
#[cfg_attr(any(miri, target_family = "wasm", shuttle), allow(dead_code))]
pub(crate) mod thread;
mod thread_key;

pub(crate) use cancellation::NotCancelled;
pub(crate) use clock_pair::ClockPair;
#[cfg(all(target_os = "linux", not(miri), any(feature = "pmu", linux_x86)))]
pub(crate) use descriptor::OwnDescriptor;
pub(crate) use errno::Errno;
pub(crate) use file_identity::FileIdentity;
pub(crate) use mapped::keep_mapped;
pub(crate) use per_process::PerProcess;
pub(crate) use thread_key::call_at_very_end;

/// What a system call writes to the address that it is given. `None` if it fails.
///
/// # Safety
///
/// If `call` returns 0, it has written a whole value.
#[cfg(unix)]
#[inline(always)]
pub(crate) unsafe fn written<T>(call: impl FnOnce(*mut T) -> libc::c_int) -> Option<T> {
    let mut value = std::mem::MaybeUninit::uninit();
    // SAFETY: the caller promises that it is written by then.
    (call(value.as_mut_ptr()) == 0).then(|| unsafe { value.assume_init() })
}

/// The process's number; 0 on WebAssembly, which has none and where std's function panics.
pub(crate) fn id() -> u32 {
    if cfg!(target_family = "wasm") {
        0
    } else {
        std::process::id()
    }
}

/// The CPU on which the calling thread runs, where the system tells it.
pub(crate) fn cpu() -> Option<u32> {
    #[cfg(all(target_os = "linux", not(miri)))]
    // SAFETY: the call has no arguments and returns a number, which is negative if the system does not know.
    return u32::try_from(unsafe { libc::sched_getcpu() }).ok();
    #[cfg(not(all(target_os = "linux", not(miri))))]
    None
}

/// The number of the calling thread, as the system's tools show it; elsewhere than on Linux, the threads are counted.
pub(crate) fn thread_id() -> u64 {
    #[cfg(all(target_os = "linux", not(miri)))]
    // SAFETY: the call has no arguments and cannot fail.
    let id = unsafe { libc::syscall(libc::SYS_gettid) as u64 };
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let id = {
        use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
        static THREADS: AtomicU64 = AtomicU64::new(0);
        THREADS.fetch_add(1, Relaxed) + 1
    };
    id
}
