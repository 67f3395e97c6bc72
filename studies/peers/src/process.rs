//! The resources that this process has used.

use std::fs;

/// CPU time of all threads of this process, in ns: those that a contestant runs in the background too.
pub(crate) fn cpu_ns() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock exists and the pointer is to a timespec.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    assert_eq!(failed, 0, "the process's CPU clock can be read");
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Resident memory now, in bytes.
pub(crate) fn resident() -> f64 {
    status("VmRSS:")
}

/// The most memory that was ever resident, in bytes.
pub(crate) fn peak() -> f64 {
    status("VmHWM:")
}

fn status(key: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux tells a process its memory");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(key))
        .expect("the line exists");
    let kib: f64 = line
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .expect("a number of kB");
    kib * 1024.0
}

/// Keeps the calling thread on a CPU, if it may run there.
pub(crate) fn pin(cpu: usize) {
    // SAFETY: a set is plain bits, of which zero is the empty one; the kernel reads it and keeps no pointer.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
    }
}
