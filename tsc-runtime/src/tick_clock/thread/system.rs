//! What the clock's thread asks Linux for. Elsewhere the scheduler's default is good enough.

#![cfg(target_os = "linux")]

/// The beginning of `struct sched_attr`, up to its second version.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

/// Asks for a slice of 100 µs, and for timers that are exact. From Linux 6.6 on, a thread with a shorter slice preempts the one that
/// runs when it wakes up; with the default, the clock would wait on the CPU of the thread that it is to interrupt, and ticks would fall
/// too rarely into short work. Kernels without these settings refuse them, which does no harm. What the thread has inherited, its
/// niceness above all, stays.
pub(super) fn shorten_slice() {
    let mut attributes = Attributes::default();
    let size = size_of::<Attributes>();
    // SAFETY: the kernel writes at most as many bytes as the structure has. The call concerns this thread alone.
    let asked = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size, 0) };
    // Other policies have no slices, or other ones.
    if asked == 0 && attributes.policy == libc::SCHED_OTHER.cast_unsigned() {
        attributes.runtime = 100_000;
        // SAFETY: the structure is as long as it says. The call concerns this thread alone.
        unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    }
    // SAFETY: the call concerns this thread alone.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}
