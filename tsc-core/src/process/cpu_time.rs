//! The CPU time of this thread and of the process, as the operating system counts it.

#[cfg(all(unix, not(miri)))]
use super::written;

/// The CPU time of the calling thread, and that of all threads of the process, in nanoseconds. `None` if the system does not tell.
pub(crate) use system::{of_process, of_thread};

/// The time by one of the system's clocks, in nanoseconds. `None` if it does not answer. This may be called in a signal handler.
#[cfg(all(unix, not(miri)))]
pub(crate) fn clock_ns(clock: libc::clockid_t) -> Option<u64> {
    // SAFETY: it writes one timespec to the given address, if it returns 0.
    let time: libc::timespec = unsafe { written(|time| libc::clock_gettime(clock, time)) }?;
    Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// How often the calling thread has given up its CPU. `None` if the system does not tell.
pub(crate) fn blocks_of_thread() -> Option<u64> {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        // SAFETY: it writes one structure to the given address, if it returns 0.
        let usage = unsafe { written(|usage| libc::getrusage(libc::RUSAGE_THREAD, usage)) }?;
        Some(usage.ru_nvcsw as u64)
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    None
}

#[cfg(all(unix, not(miri)))]
mod system {
    use super::clock_ns;

    pub(crate) fn of_thread() -> Option<u64> {
        clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)
    }

    pub(crate) fn of_process() -> Option<u64> {
        clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID)
    }
}

#[cfg(all(windows, not(miri)))]
mod system {
    use windows_sys::Win32::Foundation::FILETIME;
    use windows_sys::Win32::System::Threading::{
        GetCurrentProcess, GetCurrentThread, GetProcessTimes, GetThreadTimes,
    };

    pub(crate) fn of_thread() -> Option<u64> {
        // SAFETY: each address may be written, and the pseudo handle is always valid.
        sum(|[created, exited, kernel, user]| unsafe {
            GetThreadTimes(GetCurrentThread(), created, exited, kernel, user)
        })
    }

    pub(crate) fn of_process() -> Option<u64> {
        // SAFETY: each address may be written, and the pseudo handle is always valid.
        sum(|[created, exited, kernel, user]| unsafe {
            GetProcessTimes(GetCurrentProcess(), created, exited, kernel, user)
        })
    }

    /// The time in the kernel and outside of it, which `ask` writes.
    fn sum(ask: impl FnOnce(&mut [FILETIME; 4]) -> i32) -> Option<u64> {
        let mut times = [FILETIME::default(); 4];
        let is_known = ask(&mut times) != 0;
        let units = |of: FILETIME| u64::from(of.dwHighDateTime) << 32 | u64::from(of.dwLowDateTime);
        // In units of 100 ns.
        let sum = (units(times[2]) + units(times[3])) * 100;
        is_known.then_some(sum)
    }
}

#[cfg(not(any(all(unix, not(miri)), all(windows, not(miri)))))]
mod system {
    pub(crate) fn of_thread() -> Option<u64> {
        None
    }
    pub(crate) use of_thread as of_process;
}
