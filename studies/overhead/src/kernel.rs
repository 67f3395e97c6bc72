//! The kernel's figures about this thread, and its permissions.

use std::time::Duration;

/// The CPU time of this thread so far.
#[must_use]
pub fn cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes one timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Involuntary context switches of this thread so far.
pub fn involuntary_switches() -> libc::c_long {
    // SAFETY: the struct is all numbers, and getrusage may write it.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        usage.ru_nivcsw
    }
}

/// All context switches of this thread so far.
pub fn switches() -> libc::c_long {
    // SAFETY: the struct is all numbers, and getrusage may write it.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        usage.ru_nvcsw + usage.ru_nivcsw
    }
}

/// Moves this thread permanently to `cpu`.
pub fn pin(cpu: usize) {
    // SAFETY: the set is as large as said; `CPU_SET` checks the number.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set);
    }
}

/// Installs a handler for SIGUSR1 that does nothing.
pub fn handle_signal() {
    extern "C" fn nothing(_: libc::c_int) {}
    let handler = nothing as extern "C" fn(libc::c_int);
    // SAFETY: the handler does nothing.
    unsafe { libc::signal(libc::SIGUSR1, handler as libc::sighandler_t) };
}

/// Sends this thread SIGUSR1, which [`handle_signal`] has made harmless.
pub fn raise_signal() {
    // SAFETY: the signal has a handler.
    unsafe { libc::raise(libc::SIGUSR1) };
}

/// The cheapest system call there is.
pub fn system_call() {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::syscall(libc::SYS_getppid) };
}
