//! What the clock's thread asks Linux for. Elsewhere the scheduler's default is good enough.

#![cfg(target_os = "linux")]

use libc::sched_attr;

use super::system::call;

/// Asks for a slice of 100 µs, for timers that are exact, and for the thread's name. From Linux 6.6 on, a thread with a shorter slice
/// preempts the one that runs when it wakes up; with the default, the clock would wait on the CPU of the thread that it is to interrupt, and
/// ticks would fall too rarely into short work. Kernels without these settings refuse them, which does no harm. What the thread has
/// inherited, its niceness above all, stays.
pub(super) fn shorten() {
    // Zeros, because valgrind does not know what this system call writes.
    // SAFETY: the structure consists of numbers.
    let mut attributes: sched_attr = unsafe { std::mem::zeroed() };
    let place = (&raw mut attributes).expose_provenance();
    let asked = [0, place, size_of::<sched_attr>(), 0];
    // SAFETY: the kernel writes at most as many bytes as the structure has. It concerns this thread alone.
    let asked = unsafe { call(libc::SYS_sched_getattr, asked) };
    // Other policies have no slices, or other ones.
    if asked == 0 && attributes.sched_policy == libc::SCHED_OTHER.cast_unsigned() {
        attributes.sched_runtime = 100_000;
        let place = (&raw const attributes).expose_provenance();
        // SAFETY: the structure is as long as it says. The call concerns this thread alone.
        unsafe { call(libc::SYS_sched_setattr, [0, place, 0, 0]) };
    }
    let name = c"tsc-clock".as_ptr().expose_provenance();
    // SAFETY: the calls concern this thread alone.
    unsafe {
        call(libc::SYS_prctl, [libc::PR_SET_TIMERSLACK as usize, 1, 0, 0]);
        call(libc::SYS_prctl, [libc::PR_SET_NAME as usize, name, 0, 0]);
    }
}
