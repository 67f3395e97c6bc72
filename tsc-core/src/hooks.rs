//! The functions that the operating system calls: at the process's end, for the dump, and in the child of a fork. Only probes install
//! them, so that no module below the probes depends on the report.

#![cfg(measuring)]

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::process::keep_mapped;
use crate::{calibration, environment, events, live};

/// Installs the hooks, unless they are installed. The cold path calls this when the process begins to measure, so nothing runs before the
/// first call of the first callsite.
///
/// Another thread may fork meanwhile, and the child must not hang. So the hook for forks is installed first (twice if two threads do so at
/// the same time). It makes a fork wait for a thread that is inside the C library's `atexit`, because the child would inherit the lock of
/// `atexit` in its locked state.
pub(crate) fn install() {
    environment::remember_stderr();
    #[cfg(all(unix, not(miri)))]
    forks::watch();
    keep_mapped(install as *const ());
    dump_at_exit();
    calibration::first_reading();
    live::begin();
    events::begin();
}

/// The exit handler runs before those that were registered before it, and before the destructors of the program's own `.fini_array`, and
/// any of these may call annotated functions. An entry of this section with a number runs after all others.
#[cfg(all(target_os = "linux", not(miri)))]
#[used]
// SAFETY: the section is an array of functions that are called at the end of the process. This one does not unwind.
#[unsafe(link_section = ".fini_array.00000")]
static AT_THE_VERY_END: extern "C" fn() = live::report_late_calls;

/// A lock, and the flag that it guards: whether the dump is installed. A fork holds the lock.
static INSTALLING: AtomicBool = AtomicBool::new(false);
static DUMPS: AtomicBool = AtomicBool::new(false);

fn lock() {
    while INSTALLING.swap(true, Acquire) {
        std::thread::yield_now();
    }
}

fn unlock() {
    INSTALLING.store(false, Release);
}

fn dump_at_exit() {
    lock();
    if !DUMPS.swap(true, Relaxed) {
        call_at_exit();
    }
    unlock();
}

/// Uses glibc's `on_exit`, which passes the exit code to the handler.
#[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
fn call_at_exit() {
    use std::ffi::{c_int, c_void};
    use std::ptr;

    unsafe extern "C" {
        fn on_exit(handler: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    }
    extern "C" fn handler(status: c_int, _: *mut c_void) {
        // The part of the status that the parent process receives.
        live::dump_at_exit(Some((status & 0xff).cast_unsigned()));
    }
    // SAFETY: the handler has the signature that glibc expects. It does not unwind, and its code stays mapped.
    unsafe { on_exit(handler, ptr::null_mut()) };
}

#[cfg(not(any(
    miri,
    all(target_os = "linux", target_env = "gnu"),
    all(target_family = "wasm", target_os = "unknown")
)))]
fn call_at_exit() {
    extern "C" fn handler() {
        live::dump_at_exit(None);
    }
    // SAFETY: the handler does not unwind, and its code stays mapped.
    unsafe { libc::atexit(handler) };
}

/// Miri has no `atexit`, and a WebAssembly module outside of WASI does not end. There, only `report()` and `snapshot()` make reports.
#[cfg(any(miri, all(target_family = "wasm", target_os = "unknown")))]
fn call_at_exit() {
    let _ = live::dump_at_exit;
}

#[cfg(all(unix, not(miri)))]
mod forks {
    use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
    use std::sync::atomic::{AtomicBool, AtomicUsize};

    use super::{lock, unlock};
    use crate::process::cpu_time;
    use crate::record::thread;
    use crate::{calibration, events, live, registry, tick_clock};

    pub(super) fn watch() {
        static ARE_WATCHED: AtomicBool = AtomicBool::new(false);
        if !ARE_WATCHED.load(Acquire) {
            // SAFETY: the handlers do not unwind.
            unsafe { libc::pthread_atfork(Some(before), Some(after), Some(in_child)) };
            ARE_WATCHED.store(true, Release);
        }
    }

    /// The thread that forks and therefore holds the lock, identified by the address of its state; 0 if there is none. Two threads may have
    /// installed the hooks at the same time. Then all of them run twice, and the first one locks and unlocks.
    static FORKING: AtomicUsize = AtomicUsize::new(0);

    /// This thread. `None` if a signal handler that has interrupted its cold path forks: it may already hold the lock then, so the hooks must
    /// not wait for it.
    fn this() -> Option<usize> {
        let thread = thread::this();
        (!thread.is_busy()).then(|| core::ptr::from_ref(thread).addr())
    }

    extern "C" fn before() {
        if let Some(this) = this().filter(|this| *this != FORKING.load(Relaxed)) {
            lock();
            FORKING.store(this, Relaxed);
        }
    }

    extern "C" fn after() {
        if this().is_some_and(|this| this == FORKING.load(Relaxed)) {
            FORKING.store(0, Relaxed);
            unlock();
        }
    }

    /// Only the forking thread exists in the child, and any lock may be held for ever, even the allocator's. So nothing here takes a lock.
    extern "C" fn in_child() {
        // Where threads of the parent were being parked, parking_lot's own locks may be held for ever, too.
        crate::sync::never_park();
        cpu_time::start_from_zero();
        registry::start_from_zero();
        calibration::overhead::start_from_zero();
        tick_clock::start_from_zero();
        live::start_from_zero();
        events::start_from_zero();
        after();
    }
}
