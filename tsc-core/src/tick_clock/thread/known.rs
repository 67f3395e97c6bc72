//! The clock's thread where it is one of the standard library's.

use std::io;
use std::sync::atomic::AtomicU32;
use std::thread::Thread;
use std::time::Duration;

use once_cell::race::OnceBox;

use super::STACK;
use crate::process::{PerProcess, cpu_time, thread};
use crate::tsc::os_clock;

pub(super) use std::thread::sleep;

static THREAD: PerProcess<OnceBox<Thread>> = PerProcess::new();

pub(super) fn spawn(run: extern "C" fn() -> !) -> io::Result<()> {
    let thread = thread::spawn("tsc-clock", STACK, move || {
        run();
    })?;
    // The clock is begun once.
    let _ = THREAD.get().set(Box::new(thread));
    Ok(())
}

/// Makes a system call.
///
/// # Safety
///
/// As for the call.
#[cfg(target_os = "linux")]
pub(super) unsafe fn call(number: libc::c_long, [a, b, c, d]: [usize; 4]) -> isize {
    // SAFETY: the caller promises that the call does no harm.
    unsafe { libc::syscall(number, a, b, c, d) as isize }
}

#[cfg(unix)]
pub(super) fn start_from_zero() {
    THREAD.forget();
}

/// Wakes up the thread, if it waits. `_slow` is 0.
pub(super) fn wake(_slow: &AtomicU32) {
    if let Some(thread) = THREAD.get_if_made().and_then(OnceBox::get) {
        thread.unpark();
    }
}

/// Waits for this time, or until [`wake`] is called.
pub(super) fn wait(_slow: &AtomicU32, time: Duration) {
    std::thread::park_timeout(time);
}

/// The time since some fixed one.
pub(super) fn now() -> Duration {
    Duration::from_nanos(os_clock::now())
}

pub(super) fn own_cpu_time() -> Option<Duration> {
    cpu_time::of_thread().map(Duration::from_nanos)
}

pub(super) fn cpu_time_of_process() -> Option<Duration> {
    cpu_time::of_process().map(Duration::from_nanos)
}
