//! A clock that works where the counter may not be read: the operating system's, in nanoseconds.

pub(crate) use imp::{now, unix_now};

/// `CLOCK_MONOTONIC_RAW` by a real system call. `clock_gettime` and [`Instant`](std::time::Instant) go through the vDSO, which
/// executes RDTSC itself and so dies with the process under `PR_TSC_SIGSEGV`, the very place where this clock is needed.
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "x86"),
    not(miri)
))]
mod imp {
    use crate::tsc::Ticks;

    /// The kernel's word in the `struct timespec` of this system call number, whatever the C library's `time_t` is.
    #[cfg(target_arch = "x86_64")]
    type Word = i64;
    #[cfg(target_arch = "x86")]
    type Word = i32;

    /// Nanoseconds since some fixed point, never going backwards; some 100 ns a call.
    pub(crate) fn now() -> Ticks {
        read(libc::CLOCK_MONOTONIC_RAW)
    }

    /// Nanoseconds since 1970.
    pub(crate) fn unix_now() -> u64 {
        read(libc::CLOCK_REALTIME)
    }

    fn read(clock: libc::clockid_t) -> u64 {
        let mut time: [Word; 2] = [0; 2];
        // SAFETY: the kernel writes a timespec, two words of this size, to the address it is given. The call cannot fail with a
        // clock that exists since Linux 2.6.28; if a sandbox refuses it, `time` stays 0.
        unsafe {
            libc::syscall(libc::SYS_clock_gettime, clock, time.as_mut_ptr());
        }
        // As u64 the seconds of 500 years fit; none is negative.
        time[0] as u64 * 1_000_000_000 + time[1] as u64
    }
}

/// A WebAssembly module outside of WASI has no clock: calls are counted there, and all of them take no time.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod imp {
    use crate::tsc::Ticks;

    /// Always 0.
    pub(crate) fn unix_now() -> u64 {
        0
    }

    /// Always 0.
    pub(crate) fn now() -> Ticks {
        0
    }
}

/// [`Instant`](std::time::Instant), which needs no counter that can be taken away.
#[cfg(not(any(
    all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "x86"),
        not(miri)
    ),
    all(target_family = "wasm", target_os = "unknown")
)))]
mod imp {
    use std::time::{Instant, SystemTime, UNIX_EPOCH};

    use once_cell::race::OnceBox;

    use crate::tsc::Ticks;

    /// Nanoseconds since 1970; 0 under Miri, which by default shows nothing of the machine to a program.
    pub(crate) fn unix_now() -> u64 {
        if cfg!(miri) {
            return 0;
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_nanos() as u64)
    }

    /// Nanoseconds since the first call, never going backwards.
    pub(crate) fn now() -> Ticks {
        static ORIGIN: OnceBox<Instant> = OnceBox::new();
        ORIGIN
            .get_or_init(|| Box::new(Instant::now()))
            .elapsed()
            .as_nanos() as Ticks
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn counts_nanoseconds_and_never_backwards() {
        // `reference` lies inside what `now` measures, so it is the shorter of the two but for the clocks' slew.
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
