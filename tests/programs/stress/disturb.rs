//! What disturbs the recording: forks, signals, pauses, and libraries that are loaded and closed.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use tsc_runtime::{pause, resume, snapshot};

use super::work;

pub(crate) struct Disturbance<'a> {
    pub(crate) pauses: bool,
    pub(crate) library: Option<&'a Path>,
}

impl Disturbance<'_> {
    /// Disturbs the recording until `stop` is set. Returns the numbers of forks and of opened libraries.
    pub(crate) fn until(&self, stop: &AtomicBool) -> (u64, u64) {
        let (mut forks, mut libraries) = (0, 0);
        while !stop.load(Relaxed) {
            fork();
            forks += 1;
            if let Some(library) = self.library {
                open_and_close(library);
                libraries += 1;
            }
            if self.pauses {
                pause();
                thread::yield_now();
                resume();
            }
            thread::sleep(Duration::from_millis(5));
        }
        resume();
        (forks, libraries)
    }
}

/// Forks a child that records and makes a report. The parent's other threads, which may have held locks, do not exist in it.
fn fork() {
    // SAFETY: the child calls annotated functions although its parent has threads, and the test checks that this works.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // Ends the child if it hangs.
        // SAFETY: no preconditions.
        unsafe { libc::alarm(60) };
        resume();
        work::calls(1);
        let recorded = snapshot().callsite("outer").map_or(0, |row| row.calls());
        // SAFETY: no preconditions.
        unsafe { libc::_exit(i32::from(recorded != 50)) };
    }
    let mut status = -1;
    // SAFETY: `status` may be written.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status, 0, "the child of a fork failed");
}

/// Builds a library that contains a runtime of its own. `None` if it cannot be built.
pub(crate) fn build_plugin() -> Option<PathBuf> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = tests.join("../target/stress");
    let built = Command::new("cargo")
        .current_dir(tests.join("programs/plugins"))
        .args(["build", "--quiet", "--release", "--package", "own"])
        .env("CARGO_TARGET_DIR", &target)
        .status();
    if !built.is_ok_and(|status| status.success()) {
        eprintln!("stress: no library is opened and closed, because it could not be built");
        return None;
    }
    Some(target.join("release/libown.so"))
}

fn open_and_close(library: &Path) {
    let path = CString::new(library.to_str().expect("the path is text"))
        .expect("the text has no zero byte");
    // SAFETY: the library defines this symbol with this signature, and the handle is closed last.
    unsafe {
        let handle = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        assert!(!handle.is_null(), "the library can be opened");
        let work = libc::dlsym(handle, c"plugin_work".as_ptr());
        let work: extern "C" fn(u64) -> u64 = std::mem::transmute(work);
        thread::spawn(move || work(10))
            .join()
            .expect("the library's thread");
        libc::dlclose(handle);
    }
}

/// Sends signals to the threads that have registered.
pub(crate) struct Signals {
    /// As numbers, because a `pthread_t` is a pointer in some C libraries, and no pointer is `Send`.
    threads: Mutex<Vec<usize>>,
    pause: Duration,
    sent: AtomicU64,
}

impl Signals {
    /// Sends `rate` signals per second to each thread.
    pub(crate) fn new(rate: u32) -> Self {
        let handler = work::handle as extern "C" fn(libc::c_int);
        // SAFETY: the handler makes annotated calls, which is what is tested.
        unsafe { libc::signal(libc::SIGUSR1, handler as libc::sighandler_t) };
        Self {
            threads: Mutex::default(),
            pause: Duration::from_secs(1) / rate,
            sent: AtomicU64::new(0),
        }
    }

    /// Sets whether signals are sent to the calling thread from now on.
    pub(crate) fn to_this_thread(&self, is_wanted: bool) {
        // SAFETY: no preconditions.
        let this = unsafe { libc::pthread_self() } as usize;
        let mut threads = self
            .threads
            .lock()
            .expect("no thread panics while it holds the lock");
        threads.retain(|&thread| thread != this);
        if is_wanted {
            threads.push(this);
        }
    }

    pub(crate) fn send_until(&self, stop: &AtomicBool) {
        while !stop.load(Relaxed) {
            for &thread in &*self
                .threads
                .lock()
                .expect("no thread panics while it holds the lock")
            {
                // SAFETY: the thread removes itself from the list before it ends.
                unsafe { libc::pthread_kill(thread as libc::pthread_t, libc::SIGUSR1) };
                self.sent.fetch_add(1, Relaxed);
            }
            thread::sleep(self.pause);
        }
    }

    pub(crate) fn sent(&self) -> u64 {
        self.sent.load(Relaxed)
    }
}
