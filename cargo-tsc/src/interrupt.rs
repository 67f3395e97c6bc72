//! Ends the work when the user or the system wants it to end: after Ctrl-C, SIGTERM and SIGHUP.

use std::fmt;
use std::process::Child;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result};
use signal_hook::consts::{SIGINT, SIGTERM};

/// The latest signal, or 0. Set in the signal handler itself. A thread that is notified of the signal might run only after the program's end
/// has been noticed.
static SIGNAL: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// The processes for which this one waits.
static CHILDREN: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// The error with which the work ends after a signal.
#[derive(Debug)]
pub struct Interrupted(i32);

impl Interrupted {
    /// The status that shells report for a program that the signal has ended.
    #[must_use]
    pub fn status(&self) -> u8 {
        128 + self.0 as u8
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// After this call, a signal ends the program that runs, which first makes its report, but not this program, which then tidies up.
///
/// # Errors
/// If a signal handler cannot be installed.
pub fn outlive() -> Result<()> {
    let context = "no handler for signals";
    let mut signals = vec![SIGINT, SIGTERM];
    #[cfg(unix)]
    signals.push(signal_hook::consts::SIGHUP);
    signals.retain(|&signal| !is_ignored(signal));
    for &signal in &signals {
        let value = signal as usize;
        signal_hook::flag::register_usize(signal, Arc::clone(&SIGNAL), value).context(context)?;
    }
    #[cfg(unix)]
    unix::pass_on(signals).context(context)?;
    Ok(())
}

/// Whether the signal is not to end this process, as `nohup` asks for. Only Linux tells.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    ignored.is_some_and(|bits| bits >> (signal - 1) & 1 == 1)
}

/// The status for the signal that was sent to this process, if there was one.
#[must_use]
pub fn status() -> Option<u8> {
    signal().map(|signal| Interrupted(signal).status())
}

/// Returns an error if there was a signal. It is called before and after everything that takes long.
///
/// # Errors
/// [`Interrupted`].
pub fn check() -> Result<(), Interrupted> {
    signal().map_or(Ok(()), |signal| Err(Interrupted(signal)))
}

fn signal() -> Option<i32> {
    Some(SIGNAL.load(Relaxed) as i32).filter(|&signal| signal != 0)
}

/// As long as this exists, signals are passed on to a child.
#[must_use]
pub struct Passing(u32);

/// Passes signals on to a child: also one that has just come, perhaps before there was the child.
pub fn pass_to(child: &Child) -> Passing {
    let mut passed_to = passed_to();
    passed_to.push(child.id());
    #[cfg(unix)]
    if let Some(signal) = signal() {
        unix::send(child.id(), signal);
    }
    Passing(child.id())
}

impl Drop for Passing {
    fn drop(&mut self) {
        passed_to().retain(|child| *child != self.0);
    }
}

fn passed_to() -> MutexGuard<'static, Vec<u32>> {
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
mod unix {
    use std::io;
    use std::thread;
    use std::time::Duration;

    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    use signal_hook::consts::SIGINT;
    use signal_hook::iterator::Signals;

    /// A signal is often sent to a whole group of processes. What the child has not ended by after this time, it was not sent to.
    const PATIENCE: Duration = Duration::from_millis(500);

    /// Passes on those of the signals that are usually sent to one process. Ctrl-C is sent to all processes of the terminal.
    pub(super) fn pass_on(mut signals: Vec<i32>) -> io::Result<()> {
        signals.retain(|&signal| signal != SIGINT);
        let mut signals = Signals::new(signals)?;
        let pass_on = move || {
            for signal in signals.forever() {
                thread::sleep(PATIENCE);
                for child in super::passed_to().iter() {
                    send(*child, signal);
                }
            }
        };
        thread::Builder::new()
            .name("signals".to_owned())
            .spawn(pass_on)?;
        Ok(())
    }

    pub(super) fn send(child: u32, signal: i32) {
        if let (Ok(child), Ok(signal)) = (i32::try_from(child), Signal::try_from(signal)) {
            // If it has ended, there is nothing to do.
            let _ = kill(Pid::from_raw(child), signal);
        }
    }
}
