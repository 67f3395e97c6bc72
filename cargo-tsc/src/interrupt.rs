//! Ends the work when the user or the system wants it to end: after Ctrl-C, SIGTERM and SIGHUP.

use std::fmt;
use std::process::Child;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result};
use signal_hook::consts::{SIGINT, SIGTERM};

/// The latest signal, or 0. Set in the signal handler itself. A thread that is notified of the signal might run only after the program's end
/// has been noticed.
static SIGNAL: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Whether signals are outlived already.
static OUTLIVES: AtomicBool = AtomicBool::new(false);

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
    if OUTLIVES.swap(true, Relaxed) {
        return Ok(());
    }
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
                // Those that come later get it from `pass_to`.
                let children = super::passed_to().clone();
                thread::sleep(PATIENCE);
                let passed_to = super::passed_to();
                for child in children.iter().filter(|child| passed_to.contains(child)) {
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

#[cfg(all(test, unix))]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _};
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use signal_hook::consts::SIGTERM;

    use super::*;

    /// Counts the signals that it gets within a second and a half.
    const COUNTING: &str = "trap 'echo one' TERM; echo ready; for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do sleep 0.1; done";

    #[test]
    #[ignore = "the test below starts it in a process of its own, because other tests would be interrupted"]
    fn interrupted() {
        outlive().unwrap();
        unix::send(std::process::id(), SIGTERM);
        // The thread notices the signal while there is no child, even if it has to wait for a CPU.
        std::thread::sleep(Duration::from_secs(2));
        let mut command = Command::new("sh");
        command.args(["-c", COUNTING]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        // From here on it catches the signal.
        let mut said = String::new();
        out.read_line(&mut said).unwrap();
        let passing = pass_to(&child);
        out.read_to_string(&mut said).unwrap();
        assert!(child.wait().unwrap().success());
        drop(passing);
        assert_eq!(said, "ready\none\n");
    }

    #[test]
    fn signal_from_before_the_child_reaches_it_once() {
        let words = ["--ignored", "--exact", "interrupt::tests::interrupted"];
        let mut test = Command::new(std::env::current_exe().unwrap());
        let output = test.args(words).output().unwrap();
        // If no test has this name, none is run, and that is a success, too.
        let is_run = String::from_utf8_lossy(&output.stdout).contains("1 passed");
        assert!(output.status.success() && is_run, "{output:?}");
    }
}
