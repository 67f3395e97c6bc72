//! Forks at moments that leave locks behind, or in the middle of the runtime's work.

use std::cell::Cell;
use std::sync::Barrier;
use std::thread;

use tsc_runtime::{cycles, snapshot};

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

thread_local! {
    /// After so many allocations, the thread forks; without a number, it does not.
    static UNTIL_FORK: Cell<Option<u32>> = const { Cell::new(None) };
    /// What that fork has returned.
    static FORKED: Cell<Option<libc::pid_t>> = const { Cell::new(None) };
}

/// Called by the allocator: stands for a signal handler that has interrupted it, and forks.
pub(crate) fn at_allocation() {
    if let Some(left) = UNTIL_FORK.get() {
        UNTIL_FORK.set(left.checked_sub(1));
        if left == 0 {
            // SAFETY: the child goes on with the call that allocates, and the test checks that this works.
            FORKED.set(Some(unsafe { libc::fork() }));
        }
    }
}

#[cycles(light)]
#[inline(never)]
fn light(value: u64) -> u64 {
    std::hint::black_box(value + 3)
}

type Function = fn(u64) -> u64;

/// Forks at each allocation of a thread's first call. Prints how many of the children miss later calls of theirs.
pub(crate) fn in_first_call() {
    for (name, call) in [
        ("called_by_both", called_by_both as Function),
        ("light", light),
    ] {
        call(1);
        let mut failed = 0;
        for nth in 0.. {
            let forked = thread::spawn(move || fork_in(name, call, nth))
                .join()
                .unwrap();
            let Some(child) = forked else {
                assert_ne!(nth, 0, "a first call allocates");
                break;
            };
            failed += i32::from(status_of(child) != 0);
        }
        println!("{name}: {failed} failed");
    }
}

/// Makes a thread's first call, which forks at its `nth` allocation. Returns the child, if there are so many. The child makes more calls.
fn fork_in(name: &str, call: Function, nth: u32) -> Option<libc::pid_t> {
    const CALLS: u64 = 100;
    UNTIL_FORK.set(Some(nth));
    call(1);
    UNTIL_FORK.set(None);
    let forked = FORKED.get();
    if forked == Some(0) {
        let calls = || snapshot().callsite(name).map_or(0, |row| row.calls());
        let before = calls();
        (0..CALLS).for_each(|value| _ = call(value));
        let status = i32::from(calls() - before != CALLS);
        // SAFETY: no preconditions.
        unsafe { libc::_exit(status) };
    }
    forked
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
    status_of(child)
}

/// The exit status of a child.
fn status_of(child: libc::pid_t) -> i32 {
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
