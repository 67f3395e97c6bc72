//! The operating system's clock in nanoseconds, which works where the counter may not be read.

pub(crate) use imp::{now, unix_now};

/// `CLOCK_MONOTONIC_RAW`, read by a real system call. `clock_gettime` and [`Instant`](std::time::Instant) go through the vDSO, which
/// executes RDTSC. That kills the process under `PR_TSC_SIGSEGV`, and this clock is needed exactly there. The vDSO is used where a sandbox
/// refuses the system call.
#[cfg(all(linux_x86, not(miri)))]
mod imp {
    use crate::tsc::{Ticks, detect};

    /// The type of both fields in the `struct timespec` that this system call number uses, whatever the C library's `time_t` is.
    #[cfg(target_arch = "x86_64")]
    type Word = i64;
    #[cfg(target_arch = "x86")]
    type Word = i32;

    /// Nanoseconds since some fixed time. They never go backwards. A call takes about 100 ns.
    pub(crate) fn now() -> Ticks {
        read(libc::CLOCK_MONOTONIC_RAW)
    }

    /// Nanoseconds since 1970.
    pub(crate) fn unix_now() -> u64 {
        read(libc::CLOCK_REALTIME)
    }

    fn read(clock: libc::clockid_t) -> u64 {
        let mut time: [Word; 2] = [0; 2];
        // SAFETY: the kernel writes a timespec, which is two words of this size, to the given address.
        let failed =
            unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time.as_mut_ptr()) } != 0;
        if failed && detect().is_ok() {
            return read_by_vdso(clock);
        }
        // The values are not negative, and u64 has room for the nanoseconds of 500 years.
        time[0] as u64 * 1_000_000_000 + time[1] as u64
    }

    /// 0 where the vDSO does not read the counter, and makes the refused system call itself.
    #[cold]
    pub(super) fn read_by_vdso(clock: libc::clockid_t) -> u64 {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the C library writes a timespec to the given address.
        unsafe { libc::clock_gettime(clock, &raw mut time) };
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }
}

/// Shuttle's own time, so that a test does the same whenever it is run with the same schedule.
#[cfg(shuttle)]
use crate::sync::scheduled as imp;

/// [`Instant`](std::time::Instant), which on these systems does not need the counter. A WebAssembly module outside of WASI has no clock.
/// Calls are counted there, and all of them take no time.
#[cfg(not(any(shuttle, all(linux_x86, not(miri)))))]
mod imp {
    use std::time::{Instant, SystemTime, UNIX_EPOCH};

    use once_cell::race::OnceBox;

    use crate::tsc::Ticks;

    const IS_THERE: bool = cfg!(not(all(target_family = "wasm", target_os = "unknown")));

    /// Nanoseconds since 1970. 0 without a clock, and under Miri, which by default hides the machine's clock from a program.
    pub(crate) fn unix_now() -> u64 {
        if cfg!(miri) || !IS_THERE {
            return 0;
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_nanos() as u64)
    }

    /// Nanoseconds since the first call. They never go backwards. Always 0 without a clock.
    pub(crate) fn now() -> Ticks {
        if !IS_THERE {
            return 0;
        }
        static ORIGIN: OnceBox<Instant> = OnceBox::new();
        let origin = ORIGIN.get_or_init(|| Box::new(Instant::now()));
        origin.elapsed().as_nanos() as Ticks
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[cfg(all(linux_x86, not(miri), not(shuttle)))]
    #[test]
    fn vdso_tells_the_same_time() {
        const APART: u64 = 1000;
        let before = now();
        let between = imp::read_by_vdso(libc::CLOCK_MONOTONIC_RAW);
        let after = now();
        assert!(
            between + APART >= before && between <= after + APART,
            "{before} {between} {after}"
        );
    }

    #[test]
    fn counts_nanoseconds_and_never_backwards() {
        // The interval of `reference` lies inside that of `now`, so it is the shorter one, except for the slew of the clocks.
        let start = now();
        let reference = Instant::now();
        std::thread::sleep(Duration::from_millis(5));
        let slept = reference.elapsed().as_nanos() as u64;
        let stop = now();
        assert!(stop - start > slept - slept / 100, "{start} {stop} {slept}");
        let mut last = stop;
        for _ in 0..1000 {
            let next = now();
            assert!(next >= last);
            last = next;
        }
    }
}
