//! The runtime's own threads.

use std::io;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{Builder, Thread};
use std::time::Duration;

use super::memory;
#[cfg(unix)]
use super::signals;

/// Memory with which std can start a thread, in addition to its stack. With less, the thread might panic, which ends the process.
const ROOM: usize = 1 << 20;
/// How long to wait at most until a thread runs.
const PATIENCE: Duration = Duration::from_secs(1);

/// Starts a thread that never ends. It has all signals blocked, so that the program's handlers do not run on it.
///
/// If the process may have only so much memory, this waits until the thread runs: the program may take the last memory, but a thread that
/// starts without memory ends the process.
pub(crate) fn spawn(
    name: &str,
    stack: usize,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<Thread> {
    if !memory::can_map(ROOM + stack) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    let waiting = Arc::new((Mutex::new(false), Condvar::new()));
    let started = Arc::clone(&waiting);
    let run = move || {
        if let Ok(mut runs) = started.0.lock() {
            *runs = true;
        }
        started.1.notify_one();
        drop(started);
        body();
    };
    let builder = Builder::new().name(name.to_owned()).stack_size(stack);
    let spawn = || builder.spawn(run);
    #[cfg(unix)]
    let spawned = signals::with_blocked(&signals::all(), spawn)?;
    // There are no signals that a thread could receive.
    #[cfg(not(unix))]
    let spawned = spawn()?;
    if memory::is_limited() {
        let (runs, change) = &*waiting;
        if let Ok(runs) = runs.lock() {
            let _ = change.wait_timeout_while(runs, PATIENCE, |runs| !*runs);
        }
    }
    Ok(spawned.thread().clone())
}
