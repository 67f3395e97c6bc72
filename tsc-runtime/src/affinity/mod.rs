//! On which CPU a thread runs, and how urgently.
//!
//! A thread that migrates between a start and a stop pays for cold caches and compares the counters of two CPUs; a thread that
//! shares its CPU is preempted. [`pin`] and [`raise_priority`] take both away where the system lets them, until the guard they
//! return is dropped.
//!
//! Both act on the calling thread alone, but threads it spawns meanwhile inherit what it has. Linux, Android and Windows; elsewhere
//! every function returns [`AffinityError::Unsupported`]. With neither `debug-builds` nor `release-builds` they do nothing and
//! succeed.
//!
//! ```no_run
//! use tsc_runtime::affinity;
//!
//! let cpu = *affinity::cpus()?.last().expect("a thread runs somewhere");
//! let _pinned = affinity::pin(cpu)?;
//! // … what is measured here stays on that CPU …
//! # Ok::<(), affinity::AffinityError>(())
//! ```

use std::fmt;
use std::io;
use std::marker::PhantomData;

#[cfg_attr(not(feature = "on"), path = "off.rs")]
#[cfg_attr(
    all(
        feature = "on",
        any(target_os = "linux", target_os = "android"),
        not(miri)
    ),
    path = "linux.rs"
)]
#[cfg_attr(
    all(feature = "on", target_os = "windows", not(miri)),
    path = "windows.rs"
)]
#[cfg_attr(
    all(
        feature = "on",
        any(
            miri,
            not(any(target_os = "linux", target_os = "android", target_os = "windows"))
        )
    ),
    path = "other.rs"
)]
mod imp;
mod real_time;

pub use real_time::{RealTime, real_time};

/// The CPUs that the calling thread may run on, in ascending order.
///
/// On a thread that is pinned, that is the one. Numbers are the operating system's, and may have gaps.
///
/// # Errors
///
/// [`AffinityError::Unsupported`], or [`AffinityError::Unknown`] if a sandbox forbids the question.
pub fn cpus() -> Result<Vec<usize>, AffinityError> {
    imp::cpus()
}

/// Keeps the calling thread on CPU `cpu` until the guard is dropped, which restores what was allowed before.
///
/// Guards nest; drop the inner one first. The thread is on the CPU when this returns. Pinning does not keep others off it.
///
/// # Errors
///
/// Which CPU was meant and why it cannot be had: see [`AffinityError`].
pub fn pin(cpu: usize) -> Result<Pinned, AffinityError> {
    Ok(Pinned {
        cpu,
        before: imp::pin(cpu)?,
        this_thread: PhantomData,
    })
}

/// The CPU that the calling thread is confined to, whoever did that; `None` if there are several, or it is not known.
#[must_use]
pub fn pinned_cpu() -> Option<usize> {
    match cpus().ok()?[..] {
        [cpu] => Some(cpu),
        _ => None,
    }
}

/// Gives the calling thread the highest ordinary priority that this process may take (the lowest *nice* value), until the guard
/// is dropped. Never a real-time priority, which has its own function and its own warning: [`real_time`].
///
/// # Errors
///
/// [`AffinityError::Priority`] if the process may not go above what it has, which is the usual case without privileges.
pub fn raise_priority() -> Result<RaisedPriority, AffinityError> {
    let (before, nice) = imp::raise_priority()?;
    Ok(RaisedPriority {
        nice,
        before,
        this_thread: PhantomData,
    })
}

/// The calling thread stays on one CPU while this lives; see [`pin`].
#[derive(Debug)]
#[must_use = "the thread is unpinned when this is dropped"]
pub struct Pinned {
    cpu: usize,
    before: imp::Mask,
    /// The mask to restore is this thread's, so the guard must not be dropped on another.
    this_thread: PhantomData<*const ()>,
}

impl Pinned {
    /// The CPU the thread is kept on.
    #[must_use]
    pub fn cpu(&self) -> usize {
        self.cpu
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // It can fail only if the CPUs allowed before have all been taken away since; then the thread stays where it may be.
        let _ = imp::restore(&self.before);
    }
}

/// The calling thread has a raised priority while this lives; see [`raise_priority`].
#[derive(Debug)]
#[must_use = "the priority is lowered again when this is dropped"]
pub struct RaisedPriority {
    nice: i32,
    before: i32,
    this_thread: PhantomData<*const ()>,
}

impl RaisedPriority {
    /// The nice value the thread has now: -20 is the most urgent, 0 the usual. On Windows the priority with the other sign, of which
    /// -2 is the most urgent that this gives.
    #[must_use]
    pub fn nice(&self) -> i32 {
        self.nice
    }
}

impl Drop for RaisedPriority {
    fn drop(&mut self) {
        // Giving priority up is always allowed.
        let _ = imp::set_nice(self.before);
    }
}

/// Why a thread could not be placed.
#[derive(Debug)]
#[non_exhaustive]
pub enum AffinityError {
    /// No such CPU is online on this machine.
    NoSuchCpu {
        /// The CPU asked for.
        cpu: usize,
        /// The CPUs there are, or if that cannot be read, those the thread may run on.
        online: Vec<usize>,
    },
    /// The CPU exists, but the system refuses it: a container or cpuset that leaves it out, or a sandbox.
    Refused {
        /// The CPU asked for.
        cpu: usize,
        /// The CPUs the thread may run on as it is.
        allowed: Vec<usize>,
        /// What the system answered.
        source: io::Error,
    },
    /// The system does not say where the thread may run.
    Unknown {
        /// What the system answered.
        source: io::Error,
    },
    /// The priority cannot be raised above what it is.
    Priority {
        /// The nice value the thread has and keeps.
        nice: i32,
        /// What the system answered.
        source: io::Error,
    },
    /// The thread may not enter a real-time class.
    RealTime {
        /// What the system answered.
        source: io::Error,
    },
    /// There is one CPU, and a real-time thread that does not block would keep everything else off it.
    OneCpu,
    /// This platform has no such thing, or it is not implemented here.
    Unsupported {
        /// What is missing.
        why: &'static str,
    },
}

impl fmt::Display for AffinityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchCpu { cpu, online } => write!(
                f,
                "CPU {cpu} is not there to pin to: this machine has {}",
                Cpus(online)
            ),
            Self::Refused {
                cpu,
                allowed,
                source,
            } => write!(
                f,
                "CPU {cpu} is refused to this process, whose thread may use {}: {source}",
                Cpus(allowed)
            ),
            Self::Unknown { source } => write!(
                f,
                "the system does not say which CPUs this thread may use: {source}"
            ),
            Self::Priority { nice, source } => write!(
                f,
                "the priority stays at nice {nice}; raising it takes root, CAP_SYS_NICE or a higher RLIMIT_NICE: {source}"
            ),
            Self::RealTime { source } => write!(
                f,
                "the thread stays in its ordinary class; a real-time one takes root, CAP_SYS_NICE or a RLIMIT_RTPRIO above 0: {source}"
            ),
            Self::OneCpu => f.write_str(
                "there is one CPU: a real-time thread that does not block would keep everything else off it",
            ),
            Self::Unsupported { why } => f.write_str(why),
        }
    }
}

impl std::error::Error for AffinityError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Refused { source, .. }
            | Self::Unknown { source }
            | Self::RealTime { source }
            | Self::Priority { source, .. } => Some(source),
            Self::NoSuchCpu { .. } | Self::OneCpu | Self::Unsupported { .. } => None,
        }
    }
}

/// Prints CPUs as the kernel does: `CPUs 0-3,8`.
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
        feature = "on",
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
                    assert_eq!(imp::current_cpu(), cpu);
                    // A nested guard may go to a CPU outside the current mask.
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
                    message.contains(&format!("CPU {cpu} is not there"))
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
    }
}
