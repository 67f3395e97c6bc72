//! Annotated functions in places where hardly any code is safe: signal handlers, thread destructors, the child of a fork.
#![cfg(target_os = "linux")]

use std::cell::Cell;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;

use tests::calls;
use tsc_runtime::{cycles, snapshot, start, stop};

#[test]
fn calls_from_signal_handlers() {
    static HANDLED: AtomicU64 = AtomicU64::new(0);
    #[cycles(name = "in a handler")]
    fn in_handler() {
        HANDLED.fetch_add(1, Relaxed);
    }
    extern "C" fn handler(_: libc::c_int) {
        in_handler();
    }
    #[cycles(name = "interrupted by handlers")]
    fn interrupted(value: u64) -> u64 {
        value ^ 1
    }
    let handler = handler as extern "C" fn(libc::c_int);
    // SAFETY: the handler only records a call, which is what is tested.
    unsafe { libc::signal(libc::SIGUSR1, handler as libc::sighandler_t) };
    // A callsite's first call on a thread allocates, and a handler must not allocate. So make the first call here.
    in_handler();
    // SAFETY: no preconditions.
    let this = unsafe { libc::pthread_self() } as usize;
    let stop = AtomicBool::new(false);
    let mut made = 0;
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..2_000 {
                // SAFETY: the thread that receives the signal waits for this scope, so it exists.
                unsafe { libc::pthread_kill(this as libc::pthread_t, libc::SIGUSR1) };
                for _ in 0..200 {
                    std::hint::spin_loop();
                }
            }
            stop.store(true, Relaxed);
        });
        while !stop.load(Relaxed) {
            interrupted(made);
            made += 1;
        }
    });
    let report = snapshot();
    assert!(HANDLED.load(Relaxed) > 1);
    assert_eq!(
        report.callsite("in a handler").unwrap().calls(),
        HANDLED.load(Relaxed)
    );
    let row = report.callsite("interrupted by handlers").unwrap();
    assert_eq!((row.calls(), row.running()), (made, 0));
}

#[test]
fn handler_may_call_what_it_interrupted() {
    static DEPTH: AtomicU64 = AtomicU64::new(0);
    #[cycles(name = "both sides")]
    fn both_sides() {
        if DEPTH.fetch_add(1, Relaxed) < 5 {
            // SAFETY: the handler is installed below.
            unsafe { libc::raise(libc::SIGUSR2) };
        }
    }
    extern "C" fn handler(_: libc::c_int) {
        both_sides();
    }
    let handler = handler as extern "C" fn(libc::c_int);
    // SAFETY: the action is a valid one; SA_NODEFER lets the handler be interrupted by its own signal.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_NODEFER;
        libc::sigaction(libc::SIGUSR2, &raw const action, std::ptr::null_mut());
    }
    both_sides();
    let report = snapshot();
    let row = report.callsite("both sides").unwrap();
    assert_eq!((row.calls(), row.running()), (6, 0));
}

struct Last(&'static str);

impl Drop for Last {
    fn drop(&mut self) {
        in_destructor(self.0);
        in_destructor(self.0);
    }
}

#[cycles(name = "in a destructor")]
fn in_destructor(_: &str) {
    nested_in_destructor();
}

#[cycles(name = "nested in a destructor")]
fn nested_in_destructor() {}

thread_local! {
    static EARLY: Last = const { Last("made before the thread's first record") };
    static LATE: Last = const { Last("made after") };
}

#[test]
fn calls_from_thread_destructors() {
    const THREADS: u64 = 20;
    for _ in 0..THREADS {
        thread::spawn(|| {
            EARLY.with(|_| {});
            in_destructor("");
            LATE.with(|_| {});
        })
        .join()
        .unwrap();
    }
    // Each thread makes one call while it runs and two in each destructor.
    assert_eq!(calls("in a destructor"), 5 * THREADS);
    assert_eq!(calls("nested in a destructor"), 5 * THREADS);
}

#[test]
fn thread_that_records_only_while_it_ends() {
    #[cycles(name = "only at the end")]
    fn only_at_the_end() {}
    struct AtEnd(Cell<bool>);
    impl Drop for AtEnd {
        fn drop(&mut self) {
            (0..3).for_each(|_| only_at_the_end());
        }
    }
    thread_local!(static AT_END: AtEnd = const { AtEnd(Cell::new(false)) });
    for _ in 0..20 {
        thread::spawn(|| AT_END.with(|at_end| at_end.0.set(true)))
            .join()
            .unwrap();
    }
    assert_eq!(calls("only at the end"), 60);
}

#[test]
fn section_in_a_thread_destructor_keeps_its_record() {
    struct Late(Cell<bool>);
    impl Drop for Late {
        fn drop(&mut self) {
            for _ in 0..3 {
                let section = start!("late section");
                // If the record was freed too early, these blocks would overwrite it.
                let blocks: Vec<_> = (0..8).map(|_| Box::new([u64::MAX; 200])).collect();
                stop!(section);
                drop(blocks);
            }
        }
    }
    #[cycles]
    fn before_the_end() {}
    thread_local!(static LATE: Late = const { Late(Cell::new(false)) });
    for _ in 0..2 {
        // LATE is initialised before the runtime's own thread-local value, so it is dropped after that.
        thread::spawn(|| {
            LATE.with(|late| late.0.set(true));
            before_the_end();
        })
        .join()
        .unwrap();
    }
    assert_eq!(calls("late section"), 6);
}

#[test]
fn child_of_a_fork_starts_from_zero() {
    #[cycles(name = "on both sides of a fork")]
    fn both_sides() {}
    #[cycles(name = "across a fork")]
    fn across_fork() -> libc::pid_t {
        // SAFETY: the child only records, looks and exits.
        unsafe { libc::fork() }
    }
    /// The child's exit status: 0 if the child saw its own calls and no others. Panics are caught, because a panic would wait for the
    /// parent's threads, which the child does not have.
    fn look() -> libc::c_int {
        let seen = catch_unwind(|| {
            let report = snapshot();
            let inherited = report
                .callsites()
                .iter()
                .filter(|row| row.calls() + row.running() != 0)
                .count();
            (0..7).for_each(|_| both_sides());
            let own = calls("on both sides of a fork");
            let others = thread::spawn(both_sides).join().is_ok();
            (inherited, own, others, calls("on both sides of a fork"))
        });
        libc::c_int::from(!matches!(seen, Ok((0, 7, true, 8))))
    }
    (0..5).for_each(|_| both_sides());
    let stop = AtomicBool::new(false);
    let statuses: Vec<libc::c_int> = thread::scope(|scope| {
        // These threads hold the runtime's locks most of the time, and the child does not have them.
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(Relaxed) {
                    drop(snapshot());
                }
            });
        }
        let mut statuses = Vec::new();
        for _ in 0..30 {
            let child = across_fork();
            if child == 0 {
                // Ends the child if it hangs.
                // SAFETY: no preconditions.
                unsafe { libc::alarm(120) };
                // SAFETY: no preconditions. `_exit` runs no exit handlers, because these are the parent's.
                unsafe { libc::_exit(look()) };
            }
            let mut status = -1;
            // SAFETY: `status` may be written.
            unsafe { libc::waitpid(child, &raw mut status, 0) };
            statuses.push(status);
        }
        stop.store(true, Relaxed);
        statuses
    });
    // Assert only after the threads have stopped, because a panic in the scope would wait for them.
    assert_eq!(statuses, [0; 30], "a child failed");
    assert_eq!(
        (calls("on both sides of a fork"), calls("across a fork")),
        (5, 30)
    );
}
