//! Forks at moments that leave locks behind.

use std::sync::Barrier;
use std::thread;

use tsc_runtime::cycles;

#[cycles]
#[inline(never)]
fn called_by_both(value: u64) -> u64 {
    std::hint::black_box(value + 1)
}

#[cycles]
#[inline(never)]
fn called_by_the_child(value: u64) -> u64 {
    std::hint::black_box(value + 2)
}

/// Forks `forks` times, each time from a process in which another thread makes the very first annotated call. Prints how many of the
/// children hung and how many failed.
pub(crate) fn first_call_races_fork(forks: u32) {
    let (mut hung, mut failed) = (0, 0);
    for round in 0..forks {
        // SAFETY: no preconditions.
        unsafe { libc::alarm(120) };
        match fork_and(|| race(round % 100 * 160)) {
            0 => {}
            HUNG => hung += 1,
            _ => failed += 1,
        }
    }
    println!("{hung} hung, {failed} failed");
}

const HUNG: i32 = 2;

/// Runs in a process that has not recorded anything: forks during another thread's first call, after the given number of spins.
fn race(spins: u32) -> i32 {
    let go = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            go.wait();
            called_by_both(1);
        });
        go.wait();
        (0..spins).for_each(|_| std::hint::spin_loop());
        fork_and(|| {
            // SAFETY: no preconditions.
            unsafe { libc::alarm(60) };
            called_by_both(1);
            called_by_the_child(1);
            0
        })
    })
}

/// The exit status of a child that runs `f`.
fn fork_and(f: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child calls annotated functions after the fork, and the test checks that this works.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let status = f();
        // SAFETY: no preconditions.
        unsafe { libc::_exit(status) };
    }
    let mut status = -1;
    // SAFETY: `status` may be written.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    if libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGALRM {
        return HUNG;
    }
    if libc::WIFEXITED(status) {
        libc::WEXITSTATUS(status)
    } else {
        1
    }
}
