//! Linux: `sched_setaffinity` with a mask as long as the kernel's, and nice values.

use std::io;

use super::AffinityError;
use crate::process::written;

/// A CPU mask of any length. glibc's `cpu_set_t` ends at CPU 1024, and the kernel refuses a buffer that is shorter than its own mask.
pub(super) type Mask = Vec<libc::c_ulong>;

const WORD_BITS: usize = libc::c_ulong::BITS as usize;
const FIRST_GUESS_BITS: usize = 1024;
/// The longest mask that is tried. Kernels have at most 8192 CPUs (`NR_CPUS`).
const MOST_BITS: usize = 1 << 20;

pub(super) fn cpus() -> Result<Vec<usize>, AffinityError> {
    let mask = mask().map_err(|source| AffinityError::Unknown { source })?;
    let has = |cpu: &usize| mask[cpu / WORD_BITS] >> (cpu % WORD_BITS) & 1 == 1;
    Ok((0..mask.len() * WORD_BITS).filter(has).collect())
}

/// Pins the thread, and returns its previous mask.
pub(super) fn pin(cpu: usize) -> Result<Mask, AffinityError> {
    let before = mask().map_err(|source| AffinityError::Unknown { source })?;
    let online = online().or_else(|| cpus().ok()).unwrap_or_default();
    if cpu >= MOST_BITS {
        return Err(AffinityError::NoSuchCpu { cpu, online });
    }
    let mut only = vec![0; cpu / WORD_BITS + 1];
    only[cpu / WORD_BITS] = 1 << (cpu % WORD_BITS);
    match restore(&only) {
        Ok(()) => Ok(before),
        Err(_) if !online.contains(&cpu) => Err(AffinityError::NoSuchCpu { cpu, online }),
        Err(source) => Err(AffinityError::Refused {
            cpu,
            allowed: cpus()?,
            source,
        }),
    }
}

/// Lets the thread run on the CPUs in `mask`.
pub(super) fn restore(mask: &Mask) -> io::Result<()> {
    // SAFETY: the kernel reads as many bytes as the length says, and `mask` has that many.
    let answer =
        unsafe { libc::sched_setaffinity(0, size_of_val(&mask[..]), mask.as_ptr().cast()) };
    if answer == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

fn mask() -> io::Result<Mask> {
    let mut bits = FIRST_GUESS_BITS;
    loop {
        let mut mask: Mask = vec![0; bits / WORD_BITS];
        // SAFETY: the kernel writes at most as many bytes as the length says, and `mask` has that many.
        let answer =
            unsafe { libc::sched_getaffinity(0, size_of_val(&mask[..]), mask.as_mut_ptr().cast()) };
        if answer == 0 {
            return Ok(mask);
        }
        let error = io::Error::last_os_error();
        // EINVAL: the kernel's mask is longer.
        if error.raw_os_error() != Some(libc::EINVAL) || bits >= MOST_BITS {
            return Err(error);
        }
        bits *= 2;
    }
}

/// The machine's online CPUs, also those that this thread may not use.
fn online() -> Option<Vec<usize>> {
    parse_list(&std::fs::read_to_string("/sys/devices/system/cpu/online").ok()?)
}

/// Parses a list in the kernel's format: `0-3,8`.
pub(crate) fn parse_list(list: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for run in list.trim().split(',').filter(|run| !run.is_empty()) {
        let (first, last) = run.split_once('-').unwrap_or((run, run));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if last >= MOST_BITS {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

/// Raises the thread's priority as far as possible. Returns the nice values before and after.
pub(super) fn raise_priority() -> Result<(i32, i32), AffinityError> {
    const HIGHEST: i32 = -20;
    let before = nice().map_err(|source| AffinityError::Priority { nice: 0, source })?;
    if before == HIGHEST || set_nice(HIGHEST).is_ok() {
        return Ok((before, HIGHEST));
    }
    match set_nice(floor().min(before - 1)) {
        Ok(()) => Ok((before, nice().unwrap_or(before))),
        Err(source) => Err(AffinityError::Priority {
            nice: before,
            source,
        }),
    }
}

/// The lowest nice value that RLIMIT_NICE permits an unprivileged process: 20 minus the limit.
fn floor() -> i32 {
    // SAFETY: it writes one rlimit to the given address, if it returns 0.
    let limit = unsafe { written(|limit| libc::getrlimit(libc::RLIMIT_NICE, limit)) };
    let limit = limit.map_or(0, |limit: libc::rlimit| limit.rlim_cur);
    20 - limit.clamp(1, 40) as i32
}

/// The calling thread's nice value. On Linux it belongs to a thread; POSIX defines it for a process.
pub(super) fn nice() -> io::Result<i32> {
    // SAFETY: the arguments are numbers. The raw system call returns 20 - nice, from 1 to 40, so that -1 is always an error.
    match unsafe { libc::syscall(libc::SYS_getpriority, libc::PRIO_PROCESS, 0) } {
        answer @ 1..=40 => Ok(20 - answer as i32),
        _ => Err(io::Error::last_os_error()),
    }
}

pub(super) fn set_nice(nice: i32) -> io::Result<()> {
    // SAFETY: the arguments are numbers.
    match unsafe { libc::syscall(libc::SYS_setpriority, libc::PRIO_PROCESS, 0, nice) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The CPU that the calling thread runs on.
#[cfg(test)]
pub(super) fn current_cpu() -> usize {
    // SAFETY: the call has no arguments and returns a number.
    unsafe { libc::sched_getcpu() as usize }
}

#[cfg(test)]
mod tests {
    use super::parse_list;

    #[test]
    fn kernel_lists_are_read() {
        assert_eq!(parse_list("0-1\n"), Some(vec![0, 1]));
        assert_eq!(parse_list("0,2-4,1030"), Some(vec![0, 2, 3, 4, 1030]));
        assert_eq!(parse_list("\n"), Some(vec![]));
        assert_eq!(parse_list("0-x"), None);
        assert_eq!(parse_list("0-18446744073709551615"), None);
    }
}
