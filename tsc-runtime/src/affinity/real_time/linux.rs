//! Linux: `SCHED_FIFO`, for one thread.

use std::io;

use crate::affinity::AffinityError;

/// The lowest priority of `SCHED_FIFO`: above every ordinary thread, below other real-time threads.
const PRIORITY: libc::c_int = 1;

/// A thread's scheduling class, and its priority in it.
#[derive(Debug)]
pub(super) struct Class {
    policy: libc::c_int,
    priority: libc::c_int,
}

pub(super) fn enter() -> Result<Class, AffinityError> {
    if online_cpus() == 1 {
        return Err(AffinityError::OneCpu);
    }
    let before = class().map_err(|source| AffinityError::RealTime { source })?;
    let class = Class {
        policy: libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK,
        priority: PRIORITY,
    };
    set(&class).map_err(|source| AffinityError::RealTime { source })?;
    Ok(before)
}

pub(super) fn restore(before: &Class) {
    // Leaving the class is always permitted. A thread without privileges may not clear the flag that keeps children from inheriting
    // the class; it then keeps that flag.
    if set(before).is_err() {
        let _ = set(&Class {
            policy: before.policy | libc::SCHED_RESET_ON_FORK,
            ..*before
        });
    }
}

// These are raw system calls, because musl's functions refuse the request: POSIX defines them for processes, Linux for threads. The
// kernel's `struct sched_param` contains only the priority.
pub(super) fn class() -> io::Result<Class> {
    let mut priority: libc::c_int = 0;
    // SAFETY: 0 is the calling thread. The kernel writes one number to the given address.
    let (policy, answer) = unsafe {
        (
            libc::syscall(libc::SYS_sched_getscheduler, 0),
            libc::syscall(libc::SYS_sched_getparam, 0, &raw mut priority),
        )
    };
    if policy < 0 || answer != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Class {
        policy: policy as libc::c_int,
        priority,
    })
}

fn set(class: &Class) -> io::Result<()> {
    let priority = &raw const class.priority;
    // SAFETY: 0 is the calling thread. The kernel reads one number from the given address.
    match unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, class.policy, priority) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The number of the machine's online CPUs, also those that this thread may not use.
fn online_cpus() -> libc::c_long {
    // SAFETY: the argument is a number, and so is the result.
    unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }
}

#[cfg(test)]
pub(super) fn is_real_time(class: &Class) -> bool {
    class.policy & !libc::SCHED_RESET_ON_FORK == libc::SCHED_FIFO
}
