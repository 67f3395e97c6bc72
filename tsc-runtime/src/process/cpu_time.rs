//! The CPU time of this thread and of the process, as the operating system counts it.

use std::time::Duration;

/// The CPU time of the calling thread. `None` if the system does not tell.
pub(crate) fn of_thread() -> Option<Duration> {
    system::of_thread()
}

/// The CPU time of all threads of the process.
#[cfg_attr(any(miri, target_family = "wasm", shuttle), allow(dead_code))] // no clock of light probes runs there
pub(crate) fn of_process() -> Option<Duration> {
    system::of_process()
}

#[cfg(all(unix, not(miri)))]
mod system {
    use std::mem::MaybeUninit;
    use std::time::Duration;

    pub(super) fn of_thread() -> Option<Duration> {
        read(libc::CLOCK_THREAD_CPUTIME_ID)
    }

    pub(super) fn of_process() -> Option<Duration> {
        read(libc::CLOCK_PROCESS_CPUTIME_ID)
    }

    fn read(clock: libc::clockid_t) -> Option<Duration> {
        let mut time = MaybeUninit::<libc::timespec>::uninit();
        // SAFETY: it writes one timespec to the given address, if it returns 0.
        let time = unsafe {
            if libc::clock_gettime(clock, time.as_mut_ptr()) != 0 {
                return None;
            }
            time.assume_init()
        };
        Some(Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
    }
}

#[cfg(all(windows, not(miri)))]
mod system {
    use std::time::Duration;

    use windows_sys::Win32::Foundation::FILETIME;
    use windows_sys::Win32::System::Threading::{
        GetCurrentProcess, GetCurrentThread, GetProcessTimes, GetThreadTimes,
    };

    pub(super) fn of_thread() -> Option<Duration> {
        let mut times = [FILETIME::default(); 4];
        let [created, exited, kernel, user] = &mut times;
        // SAFETY: each address may be written, and the pseudo handle is always valid.
        let known = unsafe { GetThreadTimes(GetCurrentThread(), created, exited, kernel, user) };
        (known != 0).then(|| sum(*kernel, *user))
    }

    pub(super) fn of_process() -> Option<Duration> {
        let mut times = [FILETIME::default(); 4];
        let [created, exited, kernel, user] = &mut times;
        // SAFETY: each address may be written, and the pseudo handle is always valid.
        let known = unsafe { GetProcessTimes(GetCurrentProcess(), created, exited, kernel, user) };
        (known != 0).then(|| sum(*kernel, *user))
    }

    fn sum(kernel: FILETIME, user: FILETIME) -> Duration {
        let units = |of: FILETIME| u64::from(of.dwHighDateTime) << 32 | u64::from(of.dwLowDateTime);
        // In units of 100 ns.
        Duration::from_nanos((units(kernel) + units(user)) * 100)
    }
}

#[cfg(not(any(all(unix, not(miri)), all(windows, not(miri)))))]
mod system {
    use std::time::Duration;

    pub(super) fn of_thread() -> Option<Duration> {
        None
    }

    #[cfg_attr(any(miri, target_family = "wasm", shuttle), allow(dead_code))]
    pub(super) fn of_process() -> Option<Duration> {
        None
    }
}
