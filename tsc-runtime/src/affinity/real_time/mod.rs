//! A real-time class for a thread, in which no ordinary thread preempts it.

use std::marker::PhantomData;

use super::AffinityError;

#[cfg_attr(all(measuring, target_os = "linux", not(miri)), path = "linux.rs")]
#[cfg_attr(all(measuring, target_os = "windows", not(miri)), path = "windows.rs")]
#[cfg_attr(
    not(all(measuring, any(target_os = "linux", target_os = "windows"), not(miri))),
    path = "absent.rs"
)]
mod imp;

/// Puts the calling thread into the real-time class `SCHED_FIFO`, with its lowest priority, until the guard is dropped. No ordinary thread
/// preempts it then, whatever the nice values. Threads that it spawns do not inherit the class.
///
/// On Windows, the whole process enters the class `REALTIME_PRIORITY_CLASS`, since only processes have classes there, and the thread gets
/// the priority `THREAD_PRIORITY_TIME_CRITICAL`.
///
/// # Warning
///
/// While the thread does not block, **no ordinary thread runs on its CPU**: not the shell that could end it, and not the kernel's own
/// ordinary threads. So the function refuses this on a machine with one CPU. Use it for a short time, on a CPU that nothing else needs
/// ([`pin`](super::pin)). By default, Linux takes the CPU away from real-time threads for 50 ms of each second
/// (`/proc/sys/kernel/sched_rt_runtime_us`); a call that this happens to counts as interrupted, and takes some tens of milliseconds
/// longer. If an ordinary thread holds a lock and waits for this CPU, it takes long until it releases the lock.
///
/// On Windows nothing takes the CPU away: threads of this class also preempt those of the system that flush disk caches and move the
/// mouse pointer. All threads of the process are in the class.
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
/// [`AffinityError::RealTime`] if the process may not do this (it needs root, `CAP_SYS_NICE` or a `RLIMIT_RTPRIO` above 0; on Windows an
/// administrator's right to increase priorities), [`AffinityError::OneCpu`] on a machine with one CPU, [`AffinityError::Unsupported`] on
/// systems other than Linux and Windows.
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

#[cfg(all(
    test,
    measuring,
    any(target_os = "linux", target_os = "windows"),
    not(miri)
))]
mod tests;
