//! What the clock's thread asks Linux for. Elsewhere the scheduler's default is good enough.

#![cfg(target_os = "linux")]

use libc::sched_attr;

use super::system::call;
use crate::process::written;

/// Asks for a slice of 100 µs, for timers that are exact, and for the thread's name. From Linux 6.6 on, a thread with a shorter slice
/// preempts the one that runs when it wakes up; with the default, the clock would wait on the CPU of the thread that it is to interrupt, and
/// ticks would fall too rarely into short work. Kernels without these settings refuse them, which does no harm. What the thread has
/// inherited, its niceness above all, stays.
pub(super) fn shorten() {
    let size = size_of::<sched_attr>();
    // SAFETY: if the call returns 0, the kernel has written the structure, of which each version has as many bytes. It concerns this thread alone.
    let attributes = unsafe {
        written(|place: *mut sched_attr| {
            let arguments = [0, place.expose_provenance(), size, 0];
            call(libc::SYS_sched_getattr, arguments) as libc::c_int
        })
    };
    // Other policies have no slices, or other ones.
    let is_other = |of: &sched_attr| of.sched_policy == libc::SCHED_OTHER.cast_unsigned();
    if let Some(mut attributes) = attributes.filter(is_other) {
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
