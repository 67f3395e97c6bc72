//! The functions that the operating system calls: at the process's end, for the dump, and in the child of a fork. Only probes install
//! them, so that no module below the probes depends on the report.

#[cfg(all(unix, not(miri)))]
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::process::keep_mapped;
#[cfg(all(unix, not(miri)))]
use crate::record::thread;
#[cfg(all(unix, not(miri)))]
use crate::registry;
#[cfg(all(unix, not(miri)))]
use crate::tick_clock;
use crate::{calibration, events, live};

/// Installs the hooks, unless they are installed. The cold path calls this when the process begins to measure, so nothing runs before the
/// first call of the first callsite.
///
/// Another thread may fork meanwhile, and the child must not hang. So the hook for forks is installed first (twice if two threads do so at
/// the same time). It makes a fork wait for a thread that is inside the C library's `atexit`, because the child would inherit the lock of
/// `atexit` in its locked state.
pub(crate) fn install() {
    #[cfg(all(unix, not(miri)))]
    watch_forks();
    keep_mapped(install as *const ());
    dump_at_exit();
    calibration::first_reading();
    live::begin();
    events::begin();
}

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
fn watch_forks() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if !WATCHED.load(Acquire) {
        // SAFETY: the handlers do not unwind.
        unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_child)) };
        WATCHED.store(true, Release);
    }
}

/// Whether a signal handler has interrupted the cold path of this thread and forks. This thread may already hold the lock then, so the
/// hooks must not wait for it.
#[cfg(all(unix, not(miri)))]
fn is_nested() -> bool {
    thread::this().is_busy()
}

/// The thread that forks and therefore holds the lock, identified by the address of its state; and how many more times its fork will run
/// the hooks, which may be installed twice. Only that thread writes them.
#[cfg(all(unix, not(miri)))]
static FORKING: AtomicUsize = AtomicUsize::new(0);
#[cfg(all(unix, not(miri)))]
static AGAIN: AtomicUsize = AtomicUsize::new(0);

#[cfg(all(unix, not(miri)))]
extern "C" fn before_fork() {
    if is_nested() {
        return;
    }
    let this = core::ptr::from_ref(thread::this()).addr();
    if FORKING.load(Relaxed) == this {
        AGAIN.fetch_add(1, Relaxed);
    } else {
        lock();
        FORKING.store(this, Relaxed);
    }
}

#[cfg(all(unix, not(miri)))]
extern "C" fn after_fork() {
    if is_nested() {
        return;
    }
    if AGAIN.load(Relaxed) != 0 {
        AGAIN.fetch_sub(1, Relaxed);
    } else {
        FORKING.store(0, Relaxed);
        unlock();
    }
}

/// Only the forking thread exists in the child, and any lock may be held for ever, even the allocator's. So nothing here takes a lock.
#[cfg(all(unix, not(miri)))]
extern "C" fn in_child() {
    registry::start_from_zero();
    calibration::overhead::start_from_zero();
    calibration::light_cost::start_from_zero();
    tick_clock::start_from_zero();
    live::start_from_zero();
    #[cfg(all(feature = "pmu", target_os = "linux", not(miri)))]
    events::start_from_zero();
    after_fork();
}
