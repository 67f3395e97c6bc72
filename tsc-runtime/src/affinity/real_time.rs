//! A real-time class for a thread, in which no ordinary thread preempts it.

use std::marker::PhantomData;

use super::AffinityError;

/// Puts the calling thread into the real-time class `SCHED_FIFO`, with its lowest priority, until the guard is dropped. No ordinary thread
/// preempts it then, whatever the nice values. Threads that it spawns do not inherit the class. Linux only.
///
/// # Warning
///
/// While the thread does not block, **no ordinary thread runs on its CPU**: not the shell that could end it, and not the kernel's own
/// ordinary threads. So the function refuses this on a machine with one CPU. Use it for a short time, on a CPU that nothing else needs
/// ([`pin`](super::pin)). By default, Linux takes the CPU away from real-time threads for 50 ms of each second
/// (`/proc/sys/kernel/sched_rt_runtime_us`); a call that this happens to counts as interrupted, and takes some tens of milliseconds
/// longer. If an ordinary thread holds a lock and waits for this CPU, it takes long until it releases the lock.
///
/// ```no_run
/// use tsc_runtime::affinity;
///
/// let cpu = *affinity::cpus()?.last().expect("a thread runs somewhere");
/// let _pinned = affinity::pin(cpu)?;
/// let _real_time = affinity::real_time()?;
/// // … what is measured here is preempted by interrupts and real-time threads alone …
/// # Ok::<(), affinity::AffinityError>(())
/// ```
///
/// # Errors
///
/// [`AffinityError::RealTime`] if the process may not do this (it needs root, `CAP_SYS_NICE` or a `RLIMIT_RTPRIO` above 0),
/// [`AffinityError::OneCpu`] on a machine with one CPU, [`AffinityError::Unsupported`] on systems other than Linux.
pub fn real_time() -> Result<RealTime, AffinityError> {
    Ok(RealTime {
        before: imp::enter()?,
        this_thread: PhantomData,
    })
}

/// Keeps the calling thread in a real-time class until it is dropped; see [`real_time`].
#[derive(Debug)]
#[must_use = "the thread leaves the real-time class when this is dropped"]
pub struct RealTime {
    before: imp::Class,
    /// The class to restore belongs to this thread, so the guard must not be dropped on another one.
    this_thread: PhantomData<*const ()>,
}

impl Drop for RealTime {
    fn drop(&mut self) {
        imp::restore(&self.before);
    }
}

#[cfg(all(measuring, target_os = "linux", not(miri)))]
mod imp {
    use std::io;

    use super::AffinityError;

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
}

#[cfg(not(all(measuring, target_os = "linux", not(miri))))]
mod imp {
    use super::AffinityError;

    /// Nothing to restore.
    #[derive(Debug)]
    pub(super) struct Class;

    pub(super) fn enter() -> Result<Class, AffinityError> {
        if cfg!(measuring) {
            return Err(AffinityError::Unsupported {
                why: "a real-time class is implemented for Linux only",
            });
        }
        Ok(Class)
    }

    pub(super) fn restore(_: &Class) {}
}

#[cfg(all(test, measuring, target_os = "linux", not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn class_is_real_time_while_the_guard_lives_or_refused_with_a_reason() {
        std::thread::spawn(|| {
            let before = imp::class().unwrap();
            assert!(!imp::is_real_time(&before), "{before:?}");
            match real_time() {
                Ok(guard) => {
                    assert!(imp::is_real_time(&imp::class().unwrap()));
                    let child = std::thread::spawn(|| imp::class().unwrap());
                    let child = child.join().unwrap();
                    assert!(!imp::is_real_time(&child), "{child:?}");
                    drop(guard);
                }
                Err(AffinityError::OneCpu) => {}
                Err(error) => assert!(error.to_string().contains("RLIMIT_RTPRIO"), "{error}"),
            }
            assert!(!imp::is_real_time(&imp::class().unwrap()));
        })
        .join()
        .unwrap();
    }
}
