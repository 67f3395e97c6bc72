//! What ties the runtime to its process: the dump at its end, the child of a fork, and the libraries that must stay mapped.

#![cfg(feature = "on")]

#[cfg(all(unix, not(miri)))]
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Relaxed, Release},
};

#[cfg(all(unix, not(miri)))]
use crate::record::thread;
#[cfg(all(unix, not(miri)))]
use crate::registry;
use crate::{calibration, events, report};

mod mapped;
pub(crate) mod per_process;

pub(crate) use mapped::keep_mapped;

/// The process begins to measure: installs the hooks, unless they are installed. Nothing runs before the first callsite's first call.
/// For the cold path.
///
/// Whichever thread forks meanwhile, its child hangs at nothing here: the hook for forks comes first, twice if two threads install
/// at once, and a fork waits for a thread that is inside the C library's `atexit`, whose lock the child would find taken.
pub(crate) fn install() {
    #[cfg(all(unix, not(miri)))]
    watch_forks();
    keep_mapped(install as *const ());
    dump_at_exit();
    calibration::first_reading();
    report::begin();
    events::begin();
}

/// Whether the dump is installed. A lock and what it guards; a fork holds the lock.
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

/// By glibc's `on_exit`, which tells the exit code.
#[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
fn call_at_exit() {
    use std::ffi::{c_int, c_void};
    use std::ptr;

    unsafe extern "C" {
        fn on_exit(handler: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    }
    extern "C" fn handler(status: c_int, _: *mut c_void) {
        // What the parent will see of it.
        report::dump_at_exit(Some((status & 0xff).cast_unsigned()));
    }
    // SAFETY: it is glibc's function. The handler does not unwind, and its code stays mapped.
    unsafe { on_exit(handler, ptr::null_mut()) };
}

#[cfg(not(any(
    miri,
    all(target_os = "linux", target_env = "gnu"),
    all(target_family = "wasm", target_os = "unknown")
)))]
fn call_at_exit() {
    extern "C" fn handler() {
        report::dump_at_exit(None);
    }
    // SAFETY: the handler does not unwind, and its code stays mapped.
    unsafe { libc::atexit(handler) };
}

/// Miri has no `atexit`, and a WebAssembly module outside of WASI has no end: there, reports are made by `report()` and `snapshot()`.
#[cfg(any(miri, all(target_family = "wasm", target_os = "unknown")))]
fn call_at_exit() {
    let _ = report::dump_at_exit;
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

/// Whether a signal handler forks that has interrupted the cold path: this very thread may hold the lock.
#[cfg(all(unix, not(miri)))]
fn is_nested() -> bool {
    thread::this().is_busy()
}

/// The thread that forks and so holds the lock, by the address of its state; and how many more times its fork runs the hooks, which may
/// have been installed twice. Written by that thread alone.
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

/// Only the forking thread exists here, and any lock may be taken, the allocator's too: nothing is done but what takes none.
#[cfg(all(unix, not(miri)))]
extern "C" fn in_child() {
    registry::start_from_zero();
    calibration::overhead::start_from_zero();
    report::start_from_zero();
    #[cfg(all(feature = "pmu", target_os = "linux", not(miri)))]
    events::start_from_zero();
    after_fork();
}
