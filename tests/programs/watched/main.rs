//! A program that works, prints that it does, and waits for the signals of `moments.rs`. Its argument names how it handles signals.

#![cfg_attr(not(unix), allow(dead_code))]

use std::io::{BufRead, Write};
use std::time::Duration;

use tsc_runtime::cycles;

#[cycles]
fn work(seed: u64) -> u64 {
    (0..100).fold(seed, |sum, number| sum.rotate_left(1) ^ number)
}

fn work_ten_times() {
    for seed in 0..10 {
        work(seed);
    }
}

/// Prints a line, for which the test waits.
fn say(what: &str) {
    println!("{what}");
    std::io::stdout().flush().expect("the test reads");
}

/// Waits until the test writes a line, for at most half a minute.
fn wait_for_line() {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let _ = std::io::stdin().lock().read_line(&mut line);
        let _ = sender.send(());
    });
    let _ = receiver.recv_timeout(Duration::from_secs(30));
}

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn main() {
    let way = std::env::args().nth(1).unwrap_or_default();
    match way.as_str() {
        "wait" => {
            work_ten_times();
            say("ready");
            wait_for_line();
        }
        "hang-up-thrice" => {
            work_ten_times();
            for _ in 0..3 {
                // SAFETY: no preconditions.
                unsafe { libc::raise(libc::SIGHUP) };
            }
        }
        "no-calls" => {
            say("ready");
            wait_for_line();
        }
        "tokio-before" => tokio_ctrl_c(true),
        "tokio-after" => tokio_ctrl_c(false),
        "signal-hook-before" => signal_hook_waits(true),
        "signal-hook-after" => signal_hook_waits(false),
        "fork" => fork(true),
        "fork-without-calls" => fork(false),
        #[cfg(target_os = "linux")]
        "child-in-the-same-memory" => child_in_same_memory(),
        "child-program" => {
            work_ten_times();
            let child = std::process::Command::new("sh")
                .args(["-c", "kill -TERM $$; sleep 30"])
                .status()
                .expect("there is a shell");
            let signal = std::os::unix::process::ExitStatusExt::signal(&child);
            say(&format!("{signal:?}"));
        }
        "threads" => {
            work_ten_times();
            let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
            say(&threads.to_string());
        }
        other => panic!("no way is called {other}"),
    }
}

/// Waits for Ctrl-C with tokio, and ends with exit code 5.
#[cfg(unix)]
fn tokio_ctrl_c(before_the_first_call: bool) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    if !before_the_first_call {
        work_ten_times();
    }
    runtime.block_on(async {
        let mut signal = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())
            .expect("the signal can be caught");
        if before_the_first_call {
            work_ten_times();
        }
        say("ready");
        let came = tokio::time::timeout(Duration::from_secs(30), signal.recv()).await;
        assert!(came.is_ok(), "the signal comes");
    });
    work(1);
    std::process::exit(5);
}

/// The same for SIGTERM with signal-hook.
#[cfg(unix)]
fn signal_hook_waits(before_the_first_call: bool) {
    if !before_the_first_call {
        work_ten_times();
    }
    let mut signals =
        signal_hook::iterator::Signals::new([libc::SIGTERM]).expect("the signal can be caught");
    if before_the_first_call {
        work_ten_times();
    }
    say("ready");
    assert_eq!(signals.forever().next(), Some(libc::SIGTERM));
    work(1);
    std::process::exit(5);
}

/// Starts a child as `vfork` does, which sends itself SIGTERM, and then sends it to this process.
#[cfg(target_os = "linux")]
fn child_in_same_memory() {
    extern "C" fn child(_: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the signal ends this process, which has no other thread.
        unsafe { libc::kill(libc::getpid(), libc::SIGTERM) };
        99
    }
    work_ten_times();
    let mut stack = vec![0_u128; 1 << 12];
    let how = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the child has a stack of its own, which begins at its end, and this thread waits until the child has ended.
    let child = unsafe {
        let top = stack.as_mut_ptr_range().end.cast();
        libc::clone(child, top, how, std::ptr::null_mut())
    };
    let mut status = 0;
    // SAFETY: `status` may be written.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(libc::WTERMSIG(status), libc::SIGTERM);
    // SAFETY: no preconditions.
    unsafe { libc::kill(libc::getpid(), libc::SIGTERM) };
    wait_for_line();
}

/// Forks a child that sends itself SIGTERM, and prints the signal that ended it.
#[cfg(unix)]
fn fork(child_calls: bool) {
    work_ten_times();
    // SAFETY: no other thread of this program does anything that the child depends on.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            if child_calls {
                work(1);
                work(2);
            }
            libc::raise(libc::SIGTERM);
            // Another thread ends the process, so wait for that.
            libc::sleep(30);
            libc::_exit(99);
        }
        let mut status = 0;
        libc::waitpid(child, &raw mut status, 0);
        let signal = libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status));
        say(&format!("{signal:?}"));
    }
}
