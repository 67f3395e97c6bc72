//! Linux: `sched_setaffinity` with a mask as long as the kernel's, nice values, and `SCHED_FIFO` for one thread.

use std::io;

pub(super) const UNSUPPORTED: Option<&str> = None;

/// A CPU mask of any length. glibc's `cpu_set_t` ends at CPU 1024, and the kernel refuses a buffer that is shorter than its own mask.
pub(super) type Mask = Vec<libc::c_ulong>;

const WORD_BITS: usize = libc::c_ulong::BITS as usize;
const FIRST_GUESS_BITS: usize = 1024;
/// The longest mask that is tried. Kernels have at most 8192 CPUs (`NR_CPUS`).
const MOST_BITS: usize = 1 << 20;

pub(super) fn cpus_in(mask: &Mask) -> Vec<usize> {
    let has = |cpu: &usize| mask[cpu / WORD_BITS] >> (cpu % WORD_BITS) & 1 == 1;
    (0..mask.len() * WORD_BITS).filter(has).collect()
}

/// The mask with this CPU alone. `None` if no kernel has such a CPU.
pub(super) fn only(cpu: usize) -> Option<Mask> {
    let mut only = vec![0; (cpu < MOST_BITS).then_some(cpu / WORD_BITS + 1)?];
    only[cpu / WORD_BITS] = 1 << (cpu % WORD_BITS);
    Some(only)
}

/// Lets the thread run on the CPUs in `mask`.
pub(super) fn set_mask(mask: &Mask) -> io::Result<()> {
    let (length, words) = (size_of_val(&mask[..]), mask.as_ptr().cast());
    // SAFETY: the kernel reads as many bytes as the length says, and `mask` has that many.
    checked(unsafe { libc::sched_setaffinity(0, length, words) }.into()).map(drop)
}

pub(super) fn mask() -> io::Result<Mask> {
    let mut mask: Mask = vec![0; FIRST_GUESS_BITS / WORD_BITS];
    loop {
        let (length, words) = (size_of_val(&mask[..]), mask.as_mut_ptr().cast());
        // SAFETY: the kernel writes at most as many bytes as the length says, and `mask` has that many.
        let answer = checked(unsafe { libc::sched_getaffinity(0, length, words) }.into());
        let is_longer = |error: &io::Error| error.raw_os_error() == Some(libc::EINVAL);
        // The kernel's mask may be longer.
        if answer.as_ref().is_err_and(is_longer) && mask.len() < MOST_BITS / WORD_BITS {
            mask.resize(2 * mask.len(), 0);
            continue;
        }
        return answer.map(|_| mask);
    }
}

/// The machine's online CPUs, also those that this thread may not use.
pub(super) fn online() -> Vec<usize> {
    let list = std::fs::read_to_string("/sys/devices/system/cpu/online").ok();
    list.and_then(|list| parse_list(&list)).unwrap_or_else(|| {
        // SAFETY: the argument is a number, and so is the result.
        let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
        (0..usize::try_from(count).unwrap_or(0)).collect()
    })
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

/// The nice value of the highest priority.
pub(super) const HIGHEST_NICE: i32 = -20;

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

pub(super) const RIGHT: &str = "root, CAP_SYS_NICE or a RLIMIT_RTPRIO above 0";

/// Its priority is above that of every ordinary thread, and below that of other real-time threads.
pub(super) const REAL_TIME: Class = Class {
    policy: libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK,
    priority: 1,
};

// These are raw system calls, because musl's functions refuse the request: POSIX defines them for processes, Linux for threads. The
// kernel's `struct sched_param` contains only the priority.
pub(super) fn class() -> io::Result<Class> {
    let mut priority: libc::c_int = 0;
    // SAFETY: 0 is the calling thread.
    let policy = checked(unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) })?;
    // SAFETY: as above. The kernel writes one number to the given address.
    checked(unsafe { libc::syscall(libc::SYS_sched_getparam, 0, &raw mut priority) })?;
    let policy = policy as libc::c_int;
    Ok(Class { policy, priority })
}

pub(super) fn set_class(class: &Class) -> io::Result<()> {
    let set = |policy: libc::c_int| {
        let priority = &raw const class.priority;
        // SAFETY: 0 is the calling thread. The kernel reads one number from the given address.
        checked(unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, priority) })
    };
    // A thread without privileges may not clear the flag that keeps children from inheriting the class; it then keeps that flag.
    let set = set(class.policy).or_else(|_| set(class.policy | libc::SCHED_RESET_ON_FORK));
    set.map(drop)
}

/// What a system call returns, unless it is an error.
fn checked(answer: libc::c_long) -> io::Result<libc::c_long> {
    if answer < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(answer)
}

#[cfg(test)]
pub(super) mod tests {
    use super::{class, parse_list};

    pub(in super::super) fn is_real_time() -> bool {
        class().unwrap().policy & !libc::SCHED_RESET_ON_FORK == libc::SCHED_FIFO
    }

    /// The CPU that the calling thread runs on.
    pub(in super::super) fn current_cpu() -> usize {
        // SAFETY: the call has no arguments and returns a number.
        unsafe { libc::sched_getcpu() as usize }
    }

    #[test]
    fn kernel_lists_are_read() {
        assert_eq!(parse_list("0-1\n"), Some(vec![0, 1]));
        assert_eq!(parse_list("0,2-4,1030"), Some(vec![0, 2, 3, 4, 1030]));
        assert_eq!(parse_list("\n"), Some(vec![]));
        assert_eq!(parse_list("0-x"), None);
        assert_eq!(parse_list("0-18446744073709551615"), None);
    }
}
