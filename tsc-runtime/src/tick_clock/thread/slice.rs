//! What the clock's thread asks Linux for. Elsewhere the scheduler's default is good enough.

#![cfg(target_os = "linux")]

use std::ptr;

use super::system::call;

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

/// Asks for a slice of 100 µs, for timers that are exact, and for the thread's name. From Linux 6.6 on, a thread with a shorter slice
/// preempts the one that runs when it wakes up; with the default, the clock would wait on the CPU of the thread that it is to interrupt, and
/// ticks would fall too rarely into short work. Kernels without these settings refuse them, which does no harm. What the thread has
/// inherited, its niceness above all, stays.
pub(super) fn shorten() {
    let mut attributes = Attributes::default();
    let size = size_of::<Attributes>();
    let place = |attributes: &mut Attributes| ptr::from_mut(attributes).expose_provenance();
    // SAFETY: the kernel writes at most as many bytes as the structure has. The call concerns this thread alone.
    let asked = unsafe {
        call(
            libc::SYS_sched_getattr,
            [0, place(&mut attributes), size, 0],
        )
    };
    // Other policies have no slices, or other ones.
    if asked == 0 && attributes.policy == libc::SCHED_OTHER.cast_unsigned() {
        attributes.runtime = 100_000;
        // SAFETY: the structure is as long as it says. The call concerns this thread alone.
        unsafe { call(libc::SYS_sched_setattr, [0, place(&mut attributes), 0, 0]) };
    }
    let name = c"tsc-clock".as_ptr().expose_provenance();
    // SAFETY: the calls concern this thread alone.
    unsafe {
        call(libc::SYS_prctl, [libc::PR_SET_TIMERSLACK as usize, 1, 0, 0]);
        call(libc::SYS_prctl, [libc::PR_SET_NAME as usize, name, 0, 0]);
    }
}
