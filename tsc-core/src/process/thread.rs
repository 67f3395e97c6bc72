//! The runtime's own threads.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{Builder, Thread};
use std::time::Duration;

use super::memory;
#[cfg(unix)]
use super::signals;

/// Memory with which std can start a thread, in addition to its stack. With less, the thread might panic, which ends the process.
const ROOM: usize = 1 << 20;
/// The pauses in which to wait until a thread runs, and how many at most.
const PAUSE: Duration = Duration::from_millis(1);
const MOST_PAUSES: u32 = 1000;

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
    let runs = Arc::new(AtomicBool::new(false));
    let started = Arc::clone(&runs);
    let run = move || {
        started.store(true, Relaxed);
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
        // A wait with a time limit would read the counter, which may be forbidden.
        let pauses = (0..MOST_PAUSES).take_while(|_| !runs.load(Relaxed));
        pauses.for_each(|_| std::thread::sleep(PAUSE));
    }
    Ok(spawned.thread().clone())
}
