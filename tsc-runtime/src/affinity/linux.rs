//! Linux: `sched_setaffinity` with a mask as long as the kernel's, nice values, and `SCHED_FIFO` for one thread.

use std::io;

use super::AffinityError;
use crate::process::written;

/// A CPU mask of any length. glibc's `cpu_set_t` ends at CPU 1024, and the kernel refuses a buffer that is shorter than its own mask.
pub(super) type Mask = Vec<libc::c_ulong>;

const WORD_BITS: usize = libc::c_ulong::BITS as usize;
const FIRST_GUESS_BITS: usize = 1024;
/// The longest mask that is tried. Kernels have at most 8192 CPUs (`NR_CPUS`).
const MOST_BITS: usize = 1 << 20;

/// The lowest priority of `SCHED_FIFO`: above every ordinary thread, below other real-time threads.
const LOWEST: libc::c_int = 1;

pub(super) fn cpus() -> Result<Vec<usize>, AffinityError> {
    let mask = mask()?;
    let has = |cpu: &usize| mask[cpu / WORD_BITS] >> (cpu % WORD_BITS) & 1 == 1;
    Ok((0..mask.len() * WORD_BITS).filter(has).collect())
}

/// Pins the thread, and returns its previous mask.
pub(super) fn pin(cpu: usize) -> Result<Mask, AffinityError> {
    let before = mask()?;
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
    let (length, words) = (size_of_val(&mask[..]), mask.as_ptr().cast());
    // SAFETY: the kernel reads as many bytes as the length says, and `mask` has that many.
    checked(unsafe { libc::sched_setaffinity(0, length, words) }.into()).map(drop)
}

fn mask() -> Result<Mask, AffinityError> {
    let mut bits = FIRST_GUESS_BITS;
    loop {
        let mut mask: Mask = vec![0; bits / WORD_BITS];
        let (length, words) = (size_of_val(&mask[..]), mask.as_mut_ptr().cast());
        // SAFETY: the kernel writes at most as many bytes as the length says, and `mask` has that many.
        match checked(unsafe { libc::sched_getaffinity(0, length, words) }.into()) {
            Ok(_) => return Ok(mask),
            // The kernel's mask is longer.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) && bits < MOST_BITS => {
                bits *= 2;
            }
            Err(source) => return Err(AffinityError::Unknown { source }),
        }
    }
}

/// The machine's online CPUs, also those that this thread may not use.
fn online() -> Option<Vec<usize>> {
    parse_list(&std::fs::read_to_string("/sys/devices/system/cpu/online").ok()?)
}

/// Parses a list in the kernel's format: `0-3,8`.
fn parse_list(list: &str) -> Option<Vec<usize>> {
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
    let refused = |nice| move |source| AffinityError::Priority { nice, source };
    let before = nice().map_err(refused(0))?;
    if before == HIGHEST || set_nice(HIGHEST).is_ok() {
        return Ok((before, HIGHEST));
    }
    set_nice(floor().min(before - 1)).map_err(refused(before))?;
    Ok((before, nice().unwrap_or(before)))
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
    // SAFETY: the arguments are numbers. The raw system call returns 20 - nice, from 1 to 40.
    let answer = unsafe { libc::syscall(libc::SYS_getpriority, libc::PRIO_PROCESS, 0) };
    Ok(20 - checked(answer)? as i32)
}

pub(super) fn set_nice(nice: i32) -> io::Result<()> {
    // SAFETY: the arguments are numbers.
    let answer = unsafe { libc::syscall(libc::SYS_setpriority, libc::PRIO_PROCESS, 0, nice) };
    checked(answer).map(drop)
}

/// A thread's scheduling class, and its priority in it.
#[derive(Debug)]
pub(super) struct Class {
    policy: libc::c_int,
    priority: libc::c_int,
}

/// Makes the thread one of the real-time class, and returns its previous class.
pub(super) fn enter_real_time() -> Result<Class, AffinityError> {
    // SAFETY: the argument is a number, and so is the result.
    if unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) } == 1 {
        return Err(AffinityError::OneCpu);
    }
    let refused = |source| AffinityError::RealTime { source };
    let before = class().map_err(refused)?;
    let class = Class {
        policy: libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK,
        priority: LOWEST,
    };
    set_class(&class).map_err(refused)?;
    Ok(before)
}

pub(super) fn set_class_back(before: &Class) {
    // Leaving the class is always permitted. A thread without privileges may not clear the flag that keeps children from inheriting
    // the class; it then keeps that flag.
    if set_class(before).is_err() {
        let policy = before.policy | libc::SCHED_RESET_ON_FORK;
        let _ = set_class(&Class { policy, ..*before });
    }
}

// These are raw system calls, because musl's functions refuse the request: POSIX defines them for processes, Linux for threads. The
// kernel's `struct sched_param` contains only the priority.
fn class() -> io::Result<Class> {
    let mut priority: libc::c_int = 0;
    // SAFETY: 0 is the calling thread.
    let policy = checked(unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) })?;
    // SAFETY: as above. The kernel writes one number to the given address.
    checked(unsafe { libc::syscall(libc::SYS_sched_getparam, 0, &raw mut priority) })?;
    let policy = policy as libc::c_int;
    Ok(Class { policy, priority })
}

fn set_class(class: &Class) -> io::Result<()> {
    let priority = &raw const class.priority;
    // SAFETY: 0 is the calling thread. The kernel reads one number from the given address.
    let answer = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, class.policy, priority) };
    checked(answer).map(drop)
}

/// What a system call returns, unless it is an error.
fn checked(answer: libc::c_long) -> io::Result<libc::c_long> {
    if answer < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(answer)
}

#[cfg(test)]
pub(super) fn is_real_time() -> bool {
    class().unwrap().policy & !libc::SCHED_RESET_ON_FORK == libc::SCHED_FIFO
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
