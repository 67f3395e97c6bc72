//! The ways of the program, on Linux.

use std::cell::Cell;
use std::hint::black_box;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;
use std::time::{Duration, Instant};

use tests::sandboxed::forbid;
use tsc_runtime::{Report, cycles, snapshot};

#[cycles(light)]
fn tiny(value: u64) -> u64 {
    black_box(value) + 1
}

#[cycles]
fn timed(value: u64) -> u64 {
    black_box(value) + 1
}

#[cycles(light)]
fn handled() {
    tiny(0);
}

#[cycles(light)]
fn sleeping() {
    std::thread::sleep(Duration::from_millis(5));
}

/// Calls `tiny` for a second.
#[cycles(light)]
fn working() {
    call(10, Duration::from_secs(1));
}

#[cycles(light)]
fn deep(depth: u32, innermost: fn()) -> u64 {
    if depth == 0 {
        innermost();
        return 0;
    }
    black_box(deep(depth - 1, innermost)) + 1
}

/// The innermost call receives a signal, so that none of them is a usual one.
#[cycles]
#[inline(never)]
fn timed_deep(depth: u32) -> u64 {
    if depth == 0 {
        // SAFETY: the handler does nothing.
        unsafe { libc::raise(libc::SIGUSR1) };
        return 0;
    }
    black_box(timed_deep(depth - 1)) + 1
}

#[cycles(light)]
fn around_a_fork(depth: u32) -> i32 {
    if depth != 0 {
        return around_a_fork(depth - 1);
    }
    // Ticks find the frames of the calls that are running, before the fork and after it.
    let call_until_found = |time| {
        let is_found = |report: &Report| {
            let row = report.callsite("around_a_fork");
            row.is_some_and(|row| row.total_ticks() > 0.0 && row.clock_ticks() > Some(0))
                && report.contexts().iter().any(|of| of.parent().is_some())
        };
        repeat_until(|| _ = call(10, time), is_found);
    };
    call_until_found(Duration::from_millis(20));
    // SAFETY: this thread is the only one that uses the program's data.
    let child = unsafe { libc::fork() };
    call_until_found(Duration::from_millis(60));
    child
}

/// Uses the CPU for 30 ms.
fn spin() {
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(30) {
        std::hint::spin_loop();
    }
}

/// Calls `tiny` so many times, and goes on with blocks of a thousand calls until the time has passed. Returns the number of calls.
fn call(times: u64, time: Duration) -> u64 {
    let began = Instant::now();
    let mut calls = times;
    (0..times).for_each(|value| _ = tiny(value));
    while began.elapsed() < time {
        calls += 1000;
        (0..1000).for_each(|value| _ = tiny(value));
    }
    calls
}

/// Works until a report has what is wanted, for a minute at most. Ticks come late where the clock's thread has to wait for a CPU.
fn repeat_until(mut work: impl FnMut(), has_it: impl Fn(&Report) -> bool) {
    let began = Instant::now();
    loop {
        work();
        if has_it(&snapshot()) || began.elapsed() > Duration::from_secs(60) {
            return;
        }
    }
}

/// Calls `tiny` until a report has what is wanted. Returns the number of calls.
fn call_until(has_it: impl Fn(&Report) -> bool) -> u64 {
    let mut calls = 0;
    repeat_until(|| calls += call(1000, Duration::from_millis(100)), has_it);
    calls
}

/// Calls `tiny` until a tick has found it. Returns the number of calls.
fn call_until_ticked() -> u64 {
    call_until(|report| {
        let row = report.callsite("tiny");
        row.is_some_and(|row| row.self_ticks() > 0.0)
    })
}

pub(crate) fn main() {
    match std::env::args().nth(1).unwrap_or_default().as_str() {
        "fork" => fork(),
        "fork-with-timed-calls" => fork_with_timed_calls(),
        "exec" => {
            call_until_ticked();
            let this = std::env::current_exe().unwrap();
            panic!("{}", Command::new(this).arg("until-ticked").exec());
        }
        "until-ticked" => println!("{}", call_until_ticked()),
        "two-ticks" => {
            // The intervals are random, so one alone says little of their mean.
            let has_two = |report: &Report| report.tick_clock().is_some_and(|of| of.ticks() >= 2);
            println!("{}", call_until(has_two));
        }
        "signals" => signals(true),
        "signals-to-the-end" => signals(false),
        "exit-in-thread" => {
            call(10, Duration::ZERO);
            let _ = std::thread::spawn(|| {
                deep(3, spin);
                std::process::exit(0)
            })
            .join();
        }
        "timed-deep" => {
            extern "C" fn nothing(_: libc::c_int) {}
            let handler = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
            // SAFETY: the handler may run anywhere.
            unsafe { libc::signal(libc::SIGUSR1, handler) };
            tiny(0);
            (0..100).for_each(|_| _ = timed_deep(5_000));
        }
        "deep" => {
            // The calls notice a tick when they return, and one that finds the thread off the CPU gives them no time yet.
            let mut times = 0;
            let recurse = || {
                assert_eq!(deep(5_000, spin), 5_000);
                times += 1;
            };
            repeat_until(recurse, |report| {
                let row = report.callsite("deep");
                row.is_some_and(|row| row.total_ticks() > 0.0)
            });
            println!("{times}");
        }
        "threads" => {
            let run = |times| {
                for _ in 0..times {
                    let threads: Vec<_> = (0..50)
                        .map(|_| std::thread::spawn(|| call(10, Duration::ZERO)))
                        .collect();
                    threads.into_iter().for_each(|thread| _ = thread.join());
                }
                tests::resident_bytes()
            };
            // First those that fill the caches of the allocator and the runtime.
            println!("{} {}", run(40), run(160));
        }
        "add-up" => add_up(),
        "idle" => {
            call(10, Duration::ZERO);
            std::thread::sleep(Duration::from_millis(1500));
        }
        "forbid-counter" => {
            // SAFETY: the runtime reads the counter only where it may.
            let is_refused = unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_SIGSEGV) } != 0;
            assert!(!is_refused, "every kernel of this architecture can do it");
            // `call` reads the time, for which the kernel's vDSO reads the counter.
            (0..1000).for_each(|value| _ = tiny(value));
            println!("1000");
        }
        "forbid-threads" => {
            forbid(&[libc::SYS_clone, libc::SYS_clone3]);
            println!("{}", call(1000, Duration::from_millis(20)));
            let verdict = tsc_runtime::self_test::self_test().verdict();
            eprintln!("without threads, the self-test says: {verdict}");
        }
        "few-descriptors" => {
            spare_no_descriptor();
            (0..10).for_each(|_| sleeping());
        }
        "few-descriptors-on-one-cpu" => {
            spare_no_descriptor();
            stay_on_this_cpu();
            working();
        }
        "nice" => {
            // SAFETY: the call concerns this process alone.
            let niceness = unsafe { libc::nice(3) };
            call(1000, Duration::from_millis(20));
            println!("{} {}", niceness + 20, niceness_of_clock() + 20);
        }
        "forbid-scheduling" => {
            forbid(&[libc::SYS_sched_setattr, libc::SYS_prctl]);
            println!("{}", call_until_ticked());
        }
        "forbid-cpu-clock" => {
            forbid(&[libc::SYS_clock_gettime]);
            println!("{}", call(1000, Duration::from_millis(20)));
        }
        "single-threaded" => {
            call_until_ticked();
            // The thread that waits for signals begins when it can.
            let waits = cfg!(target_env = "gnu")
                && std::env::var_os("TSC_SIGNALS").is_some_and(|of| of == "on");
            let end = Instant::now() + Duration::from_secs(60);
            while waits && is_single_threaded_for_libc() && Instant::now() < end {
                std::thread::sleep(Duration::from_millis(1));
            }
            println!("{}", u8::from(is_single_threaded_for_libc()));
        }
        _ => println!("{}", call(1000, Duration::from_millis(100))),
    }
}

/// Prints nanoseconds: what the report says of this thread's CPU time in all; most of what was used between the reports; and all of it.
fn add_up() {
    call(10, Duration::ZERO);
    let (used, sum) = (Cell::new(0.0), Cell::new(0.0));
    let work = || {
        let began = cpu_time();
        call(1000, Duration::from_millis(60));
        spin();
        used.set(used.get() + cpu_time() - began);
    };
    // What no tick has found yet is missing. It is about an interval of the clock, however long the program runs.
    let has_most = |report: &Report| {
        let rows = report.callsites().iter();
        let own: f64 = rows.filter_map(|row| row.self_on_cpu_ticks()).sum();
        let clock = report.tick_clock().expect("there are light probes");
        let ticks = own + clock.outside_ticks() as f64 + clock.subtracted_ticks();
        sum.set(ticks / report.clock().hz().expect("it is known") * 1e9);
        sum.get() > 0.99 * used.get()
    };
    repeat_until(work, has_most);
    println!(
        "{:.0} {:.0} {:.0}",
        sum.get(),
        0.99 * used.get(),
        cpu_time()
    );
}

/// The CPU time of this thread, in nanoseconds.
fn cpu_time() -> f64 {
    tests::cpu_time().as_secs_f64() * 1e9
}

fn spare_no_descriptor() {
    let few = libc::rlimit {
        rlim_cur: 6,
        rlim_max: 6,
    };
    // SAFETY: the struct is a limit.
    let refused = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const few) };
    assert_eq!(refused, 0);
}

/// Also keeps the threads there that are started afterwards.
fn stay_on_this_cpu() {
    // SAFETY: the set is a plain bit mask, for which zeros are a value, and the CPU is one that it has a bit for.
    let refused = unsafe {
        let mut this: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(libc::sched_getcpu() as usize, &mut this);
        libc::sched_setaffinity(0, size_of_val(&this), &raw const this)
    };
    assert_eq!(refused, 0);
}

fn fork() {
    let child = around_a_fork(5);
    if child != 0 {
        wait_for(child);
    }
}

fn wait_for(child: i32) {
    let mut status = 0;
    // SAFETY: the child is ours, and the status may be written.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status, 0);
}

/// Calls a light and a timed function, in this order, before a fork and in the child.
fn fork_with_timed_calls() {
    let both = |times| {
        for value in 0..times {
            tiny(value);
            timed(value);
        }
    };
    both(3);
    // SAFETY: this thread is the only one that uses the program's data.
    let child = unsafe { libc::fork() };
    if child == 0 {
        return both(7);
    }
    wait_for(child);
}

/// The niceness of the thread `tsc-clock` of this process. It gives itself this name, so it may have another one until it runs.
fn niceness_of_clock() -> i32 {
    let state = (0..10_000)
        .find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            let mut tasks = std::fs::read_dir("/proc/self/task").expect("/proc is mounted");
            tasks.find_map(|task| {
                let state = task.ok()?.path().join("stat");
                let state = std::fs::read_to_string(state).ok()?;
                state.contains("(tsc-clock)").then_some(state)
            })
        })
        .expect("the clock runs");
    // Behind the name, which is the second field; the niceness is the 19th.
    let fields = state.rsplit(") ").next().expect("the name is in it");
    fields
        .split(' ')
        .nth(16)
        .and_then(|nice| nice.parse().ok())
        .expect("a number")
}

/// Whether glibc knows of no other thread. Other libraries do not tell.
fn is_single_threaded_for_libc() -> bool {
    // SAFETY: the name ends with a zero, and where there is such a variable, it is of one byte.
    unsafe {
        let known = libc::dlsym(libc::RTLD_DEFAULT, c"__libc_single_threaded".as_ptr());
        known.cast::<u8>().as_ref().is_none_or(|known| *known != 0)
    }
}

/// Calls light functions while a signal handler does, too; to the process's end unless it `stops`.
fn signals(stops: bool) {
    static HANDLED: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    extern "C" fn handler(_: libc::c_int) {
        handled();
        HANDLED.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
    handled();
    // SAFETY: the handler calls light functions alone, which is what this is about.
    unsafe {
        libc::signal(
            libc::SIGALRM,
            handler as extern "C" fn(libc::c_int) as libc::sighandler_t,
        );
        let every = libc::timeval {
            tv_sec: 0,
            tv_usec: 100,
        };
        let timer = libc::itimerval {
            it_interval: every,
            it_value: every,
        };
        libc::setitimer(libc::ITIMER_REAL, &raw const timer, ptr::null_mut());
    }
    let time = if stops { 500 } else { 20 };
    let calls = call(10, Duration::from_millis(time));
    if !stops {
        return;
    }
    // SAFETY: a timer of zeros is none.
    unsafe {
        let none = std::mem::zeroed::<libc::itimerval>();
        libc::setitimer(libc::ITIMER_REAL, &raw const none, ptr::null_mut());
    }
    let handled = HANDLED.load(std::sync::atomic::Ordering::Relaxed) + 1;
    println!("{} {handled}", calls + handled);
}
