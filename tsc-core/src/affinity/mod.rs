//! Places a thread on a CPU, and raises its priority.
//!
//! A thread that migrates between a start and a stop finds cold caches, and its two readings come from the counters of two CPUs. A thread
//! that shares its CPU is preempted. [`pin`] prevents migrations, and [`raise_priority`] makes preemptions rarer, until the guard that
//! they return is dropped.
//!
//! Both act on the calling thread only, but threads that it spawns meanwhile inherit its affinity and priority. They work on Linux,
//! Android and Windows. On other systems every function returns [`AffinityError::Unsupported`]. In a build that measures nothing, such as a
//! release build without `release-builds`, they do nothing and succeed; the feature `on` makes them act there, too.
//!
//! ```no_run
//! use tsc_runtime::affinity;
//!
//! let cpu = *affinity::cpus()?.last().expect("a thread runs somewhere");
//! let _pinned = affinity::pin(cpu)?;
//! // … what is measured here stays on that CPU …
//! # Ok::<(), affinity::AffinityError>(())
//! ```

#![cfg(not(target_os = "none"))]

use std::marker::PhantomData;
use std::{fmt, io};

use tsc_report::__private::reasons;

#[cfg_attr(
    all(measuring, any(target_os = "linux", target_os = "android"), not(miri)),
    path = "linux.rs"
)]
#[cfg_attr(all(measuring, windows, not(miri)), path = "windows.rs")]
#[cfg_attr(
    not(all(
        measuring,
        any(target_os = "linux", target_os = "android", windows),
        not(miri)
    )),
    path = "absent.rs"
)]
mod imp;

/// The CPUs that the calling thread may run on, in ascending order.
///
/// If the thread is pinned, this is one CPU. The numbers are the operating system's, and may have gaps.
///
/// # Errors
///
/// [`AffinityError::Unsupported`], or [`AffinityError::Unknown`] if a sandbox forbids the system call.
pub fn cpus() -> Result<Vec<usize>, AffinityError> {
    Ok(imp::cpus_in(&mask()?))
}

/// Keeps the calling thread on CPU `cpu` until the guard is dropped, which restores the previous affinity.
///
/// Guards can be nested; drop the inner one first. When this function returns, the thread is on the CPU. Pinning does not keep other
/// threads off the CPU.
///
/// ```
/// use tsc_runtime::affinity;
///
/// match affinity::pin(0) {
///     Ok(pinned) => println!("on CPU {} until `pinned` is dropped", pinned.cpu()),
///     Err(error) => println!("not pinned: {error}"),
/// }
/// ```
///
/// # Errors
///
/// The CPU does not exist or may not be used, or the system cannot pin threads: see [`AffinityError`].
pub fn pin(cpu: usize) -> Result<Pinned, AffinityError> {
    let before = mask()?;
    match imp::only(cpu).map(|only| imp::set_mask(&only)) {
        Some(Ok(())) => Ok(Pinned {
            cpu,
            before,
            this_thread: PhantomData,
        }),
        Some(Err(source)) if imp::online().contains(&cpu) => Err(AffinityError::Refused {
            cpu,
            allowed: cpus()?,
            source,
        }),
        _ => Err(AffinityError::NoSuchCpu {
            cpu,
            online: imp::online(),
        }),
    }
}

fn mask() -> Result<imp::Mask, AffinityError> {
    supported()?;
    imp::mask().map_err(|source| AffinityError::Unknown { source })
}

fn supported() -> Result<(), AffinityError> {
    imp::UNSUPPORTED.map_or(Ok(()), |why| Err(AffinityError::Unsupported { why }))
}

/// The CPU that the calling thread is pinned to, by whatever means. `None` if it may use several CPUs, or if this is not known.
#[must_use]
pub fn pinned_cpu() -> Option<usize> {
    match cpus().ok()?[..] {
        [cpu] => Some(cpu),
        _ => None,
    }
}

/// Gives the calling thread the highest ordinary priority that this process may use (the lowest *nice* value), until the guard is dropped.
/// It never uses a real-time priority; [`real_time`] does.
///
/// # Errors
///
/// [`AffinityError::Priority`] if the process may not raise the priority. Without privileges this is usual.
/// [`AffinityError::Unsupported`] on systems other than Linux, Android and Windows.
///
/// ```
/// let raised = tsc_runtime::affinity::raise_priority();
/// if let Err(why) = &raised {
///     eprintln!("measured at the usual priority: {why}");
/// }
/// ```
pub fn raise_priority() -> Result<RaisedPriority, AffinityError> {
    supported()?;
    let refused = |nice| move |source| AffinityError::Priority { nice, source };
    let before = imp::nice().map_err(refused(0))?;
    let mut nice = imp::HIGHEST_NICE.min(before);
    while let Err(source) = imp::set_nice(nice) {
        nice += 1;
        if nice >= before {
            return Err(refused(before)(source));
        }
    }
    Ok(RaisedPriority {
        nice,
        before,
        this_thread: PhantomData,
    })
}

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
/// ([`pin`]). By default, Linux takes the CPU away from real-time threads for 50 ms of each second
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
/// systems other than Linux, Android and Windows.
pub fn real_time() -> Result<RealTime, AffinityError> {
    supported()?;
    if imp::online().len() == 1 {
        return Err(AffinityError::OneCpu);
    }
    let refused = |source| AffinityError::RealTime { source };
    let guard = RealTime {
        before: imp::class().map_err(refused)?,
        this_thread: PhantomData,
    };
    // If this fails, what it has changed is given back.
    imp::set_class(&imp::REAL_TIME).map_err(refused)?;
    Ok(guard)
}

/// Keeps the calling thread on one CPU until it is dropped; see [`pin`].
#[derive(Debug)]
#[must_use = "the thread is unpinned when this is dropped"]
pub struct Pinned {
    cpu: usize,
    before: imp::Mask,
    /// The mask to restore belongs to this thread, so the guard must not be dropped on another one.
    this_thread: PhantomData<*const ()>,
}

impl Pinned {
    /// The CPU that the thread is pinned to.
    #[must_use]
    pub fn cpu(&self) -> usize {
        self.cpu
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // This fails only if all previously allowed CPUs have been taken away in the meantime. Then the thread keeps its affinity.
        let _ = imp::set_mask(&self.before);
    }
}

/// Keeps the priority of the calling thread raised until it is dropped; see [`raise_priority`].
#[derive(Debug)]
#[must_use = "the priority is lowered again when this is dropped"]
pub struct RaisedPriority {
    nice: i32,
    before: i32,
    this_thread: PhantomData<*const ()>,
}

impl RaisedPriority {
    /// The nice value of the thread now: -20 is the highest priority, 0 the usual one. On Windows it is the negated priority, and -2 is the
    /// highest that [`raise_priority`] uses.
    #[must_use]
    pub fn nice(&self) -> i32 {
        self.nice
    }
}

impl Drop for RaisedPriority {
    fn drop(&mut self) {
        // Lowering the priority is always permitted.
        let _ = imp::set_nice(self.before);
    }
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
        // Leaving the class is always permitted.
        let _ = imp::set_class(&self.before);
    }
}

reasons! {
    /// Why the affinity or the priority of a thread could not be changed or read.
    #[derive(Debug)]
    #[non_exhaustive]
    pub enum AffinityError {
        /// This machine has no online CPU with this number.
        NoSuchCpu {
            /// The CPU in the request.
            cpu: usize,
            /// The online CPUs. If their numbers cannot be read, as many numbers from 0 on.
            online: Vec<usize>,
        } = ("CPU {cpu} does not exist: this machine has {}", Cpus(online)),
        /// The CPU exists, but the system refuses it: a container or cpuset does not contain it, or a sandbox forbids the call.
        Refused {
            /// The CPU in the request.
            cpu: usize,
            /// The CPUs that the thread may run on.
            allowed: Vec<usize>,
            /// The system's error.
            source: io::Error,
        } = ("this process may not use CPU {cpu}; the thread may use {}: {source}", Cpus(allowed)),
        /// The system does not report on which CPUs the thread may run.
        Unknown {
            /// The system's error.
            source: io::Error,
        } = ("it is not known which CPUs this thread may use: {source}"),
        /// The priority cannot be raised.
        Priority {
            /// The nice value of the thread, which did not change.
            nice: i32,
            /// The system's error.
            source: io::Error,
        } = ("the priority stays at nice {nice}; raising it needs root, CAP_SYS_NICE or a higher RLIMIT_NICE: {source}"),
        /// The thread may not enter a real-time class.
        RealTime {
            /// The system's error.
            source: io::Error,
        } = ("the thread stays in its ordinary class; for a real-time class it needs {}: {source}", imp::RIGHT),
        /// There is only one CPU, and a real-time thread that does not block would keep all other threads off it.
        OneCpu = ("there is one CPU: a real-time thread that does not block would keep everything else off it"),
        /// This platform does not have the function, or it is not implemented here.
        Unsupported {
            /// What is missing.
            why: &'static str,
        } = ("{why}"),
    }
}

/// Formats CPUs as the kernel does: `CPUs 0-3,8`.
pub(crate) struct Cpus<'a>(pub(crate) &'a [usize]);

impl fmt::Display for Cpus<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0.len() {
            0 => return f.write_str("no known CPU"),
            1 => "CPU ",
            _ => "CPUs ",
        })?;
        for (i, run) in self.0.chunk_by(|a, b| a + 1 == *b).enumerate() {
            let comma = if i == 0 { "" } else { "," };
            match run {
                [first, .., last] => write!(f, "{comma}{first}-{last}")?,
                [only] => write!(f, "{comma}{only}")?,
                [] => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_print_as_ranges() {
        assert_eq!(Cpus(&[]).to_string(), "no known CPU");
        assert_eq!(Cpus(&[3]).to_string(), "CPU 3");
        assert_eq!(Cpus(&[0, 1]).to_string(), "CPUs 0-1");
        assert_eq!(Cpus(&[0, 2, 3, 4, 8]).to_string(), "CPUs 0,2-4,8");
    }

    #[cfg(all(
        any(target_os = "linux", target_os = "android", target_os = "windows"),
        measuring,
        not(miri)
    ))]
    mod placed {
        use super::*;

        #[test]
        fn pin_confines_and_drop_restores() {
            std::thread::spawn(|| {
                let before = cpus().unwrap();
                for &cpu in &before {
                    let pinned = pin(cpu).unwrap();
                    assert_eq!((pinned.cpu(), pinned_cpu()), (cpu, Some(cpu)));
                    assert_eq!(imp::tests::current_cpu(), cpu);
                    // A nested guard may use a CPU outside the current mask.
                    let nested = pin(before[0]).unwrap();
                    assert_eq!(pinned_cpu(), Some(before[0]));
                    drop(nested);
                    assert_eq!(pinned_cpu(), Some(cpu));
                }
                assert_eq!(cpus().unwrap(), before);
            })
            .join()
            .unwrap();
        }

        #[test]
        fn absent_cpu_is_named_with_those_present() {
            let before = cpus().unwrap();
            for cpu in [9999, 1 << 19, 1 << 20, usize::MAX] {
                let error = pin(cpu).unwrap_err();
                assert!(
                    matches!(&error, AffinityError::NoSuchCpu { cpu: named, online } if *named == cpu && !online.is_empty()),
                    "{error:?}"
                );
                let message = error.to_string();
                assert!(
                    message.contains(&format!("CPU {cpu} does not exist"))
                        && message.contains("this machine has CPU"),
                    "{message}"
                );
            }
            assert_eq!(cpus().unwrap(), before);
        }

        #[test]
        fn priority_is_raised_and_given_back_or_refused_with_a_reason() {
            std::thread::spawn(|| {
                let before = imp::nice().unwrap();
                match raise_priority() {
                    Ok(raised) => {
                        assert!(raised.nice() < before || before <= -20);
                        assert_eq!(imp::nice().unwrap(), raised.nice());
                    }
                    Err(error) => assert!(error.to_string().contains("RLIMIT_NICE"), "{error}"),
                }
                assert_eq!(imp::nice().unwrap(), before);
            })
            .join()
            .unwrap();
        }

        #[test]
        fn class_is_real_time_while_the_guard_lives_or_refused_with_a_reason() {
            std::thread::spawn(|| {
                assert!(!imp::tests::is_real_time());
                match real_time() {
                    Ok(guard) => {
                        assert!(imp::tests::is_real_time());
                        let child = std::thread::spawn(imp::tests::is_real_time);
                        // On Windows, the thread's priority is not inherited, but the process' class is every thread's.
                        assert!(!child.join().unwrap());
                        drop(guard);
                    }
                    Err(AffinityError::OneCpu) => {}
                    Err(error) => assert!(error.to_string().contains("it needs"), "{error}"),
                }
                assert!(!imp::tests::is_real_time());
            })
            .join()
            .unwrap();
        }
    }
}
