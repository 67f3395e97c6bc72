//! The CPU time of this thread and of the process, as the operating system counts it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[cfg(all(unix, not(miri)))]
use super::written;

/// The CPU time of the calling thread, and that of all threads of the process, in nanoseconds. `None` if the system does not tell.
pub(crate) use system::{of_process, of_thread};

/// The CPU time that the runtime has taken for itself.
static OWN_NS: AtomicU64 = AtomicU64::new(0);

/// Calls `work`, whose CPU time is not the program's.
pub(crate) fn apart<T>(work: impl FnOnce() -> T) -> T {
    let began = of_thread();
    let result = work();
    if let Some((now, began)) = of_thread().zip(began) {
        OWN_NS.fetch_add(now.saturating_sub(began), Relaxed);
    }
    result
}

/// The CPU time of the process, without what the runtime has taken for itself.
pub(crate) fn of_program() -> Option<u64> {
    let own = OWN_NS.load(Relaxed);
    of_process().map(|all| all.saturating_sub(own))
}

/// Called in the child of a fork, whose CPU time begins at 0.
#[cfg(all(unix, not(miri)))] // no process is forked elsewhere
pub(crate) fn start_from_zero() {
    OWN_NS.store(0, Relaxed);
}

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

#[cfg(all(test, not(miri)))]
mod tests {
    use super::{OWN_NS, Relaxed, of_process, of_program, of_thread};
    use crate::probe::{Probe, Slot};
    use crate::record::callsite::{Callsite, meta};
    use crate::tsc::Lfence;

    #[test]
    fn cpu_time_of_a_report_is_not_the_programs() {
        let own = || OWN_NS.load(Relaxed);
        static CALLSITE: Callsite = Callsite::new::<Lfence>(meta(&(), module_path!(), line!()));
        drop(Probe::<Lfence>::start(&CALLSITE, &mut Slot::new()));
        // Other threads may register or report meanwhile, so this only grows.
        let before = own();
        let began = of_thread();
        drop(crate::snapshot());
        let spent = of_thread().zip(began).map_or(0, |(now, began)| now - began);
        assert!(own() - before >= spent / 2, "{spent}");
        let least = own();
        let program = of_program();
        assert!(program <= of_process().map(|all| all - least));
    }
}
