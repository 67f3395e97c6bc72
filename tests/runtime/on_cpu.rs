//! The calls' times on the CPU, blocked and waiting, and what is known of them where the kernel cannot be asked.
#![cfg(all(target_os = "linux", any(target_arch = "x86", target_arch = "x86_64")))]

use std::env;
use std::fs;
use std::hint::black_box;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use tests::sandboxed::forbid;
use tests::{cpu_time, row};
use tsc_runtime::{CallsiteReport, Report, affinity, calibration, cycles, snapshot};

const SLEEP: Duration = Duration::from_millis(2);

#[cycles(name = "sleeping")]
fn sleeping() {
    thread::sleep(SLEEP);
}

/// Held while a test sleeps in `sleeping` and looks at its row.
static TURN: Mutex<()> = Mutex::new(());

/// Whether the time on the CPU is known on this system. If not, prints the reason.
fn is_known() -> bool {
    let _turn = TURN.lock();
    sleeping();
    let report = snapshot();
    let clock = report.clock();
    let why = clock
        .no_interruptions_because()
        .or(clock.no_on_cpu_because());
    if let Some(why) = why {
        tests::skipped(why);
    }
    why.is_none()
}

fn is_split() -> bool {
    let _turn = TURN.lock();
    sleeping();
    tests::is_split(&snapshot(), "sleeping")
}

#[test]
fn sleeping_function_has_figures() {
    if !is_split() {
        return;
    }
    #[cycles(name = "sleeps and has figures")]
    fn sleeps() {
        thread::sleep(SLEEP);
    }
    (0..51).for_each(|_| sleeps());
    let report = snapshot();
    let row = report.callsite("sleeps and has figures").unwrap();
    let parts = [row.on_cpu_ticks(), row.blocked_ticks(), row.waiting_ticks()].map(Option::unwrap);
    let total = row.total_ticks();
    assert!(((parts[0] + parts[1]) / total - 1.0).abs() < 1e-9);
    assert!(((total + parts[2]) / row.wall_ticks() - 1.0).abs() < 1e-9);
    // Every call slept for at least `SLEEP`.
    let slept = report.clock().hz().unwrap() * SLEEP.as_secs_f64();
    assert!(
        parts[1] + parts[2] >= 0.9 * slept * row.calls() as f64,
        "{row:?}"
    );
    assert!(parts[0] < 0.5 * total, "{row:?}");
    assert!(row.wall_p50_ticks().unwrap() > 0.96 * slept, "{row:?}");
    assert!(row.wall_max_ticks() >= row.wall_p99_ticks());
    // Mean and quantiles are those of a sleep, although every call was interrupted.
    assert_eq!(row.clean(), Some(0));
    assert!(row.mean_ticks().unwrap() > 0.8 * slept, "{row:?}");
    assert!(row.p50_ticks().unwrap() > 0.8 * slept, "{row:?}");
    assert!(row.mean_ticks() <= row.wall_mean_ticks());
    let all = row.calls() as f64 * row.mean_ticks().unwrap();
    assert!((all / total - 1.0).abs() < 1e-6, "{row:?}");
    assert_printed(&report.to_string(), "; blocked ");
    assert_printed(&report.to_string(), " self% block calls mean ");
    assert_printed(&format!("{report:#}"), " = wall ");
}

#[test]
fn asking_the_kernel_is_a_cost_of_the_probe_that_asks() {
    if !is_known() {
        return;
    }
    #[cycles(name = "asks")]
    fn asks() {
        thread::sleep(SLEEP);
    }
    #[cycles(name = "around those who ask")]
    fn around() {
        (0..20).for_each(|_| asks());
    }
    around();
    let report = snapshot();
    let sums = |name| report.callsite(name).unwrap().sums();
    let cost = sums("asks").extra_cost();
    assert!(cost > 0, "{:?}", sums("asks"));
    assert!(cost <= sums("around those who ask").nested(), "{report:#}");
}

#[test]
fn parts_of_a_run_have_the_time_off_the_cpu_of_the_whole() {
    if !is_split() {
        return;
    }
    #[cycles(name = "sleeps in both parts")]
    fn sleeps() {
        thread::sleep(SLEEP);
    }
    (0..3).for_each(|_| sleeps());
    let first = snapshot();
    (0..4).for_each(|_| sleeps());
    let whole = snapshot();
    let second = whole.since(&first).expect("they are of one process");
    let mut both = first.clone();
    both.merge(&second).unwrap();
    let parts = |report: &Report| {
        let row = report.callsite("sleeps in both parts").unwrap();
        let known = [row.on_cpu_ticks(), row.blocked_ticks(), row.waiting_ticks()];
        let [on_cpu, blocked, waiting] = known.map(Option::unwrap);
        [on_cpu, blocked, waiting, row.wall_ticks()]
    };
    let [first, second, whole, both] = [&first, &second, &whole, &both].map(parts);
    for (part, whole) in both.into_iter().zip(whole) {
        // What is subtracted is a whole number of ticks.
        assert!((part - whole).abs() <= 1.0, "{both:?} {whole:?}");
    }
    let slept = [first, second].map(|part| part[1] + part[2]);
    assert!(slept[0] > 0.0 && slept[1] > 0.0, "{slept:?}");
}

#[test]
fn blocked_is_inclusive_and_own_where_it_slept() {
    if !is_split() {
        return;
    }
    #[cycles(name = "calls one that sleeps")]
    fn outer() {
        inner();
    }
    #[cycles(name = "called and sleeps")]
    fn inner() {
        thread::sleep(SLEEP);
    }
    (0..20).for_each(|_| outer());
    let report = snapshot();
    let [outer, inner] =
        ["calls one that sleeps", "called and sleeps"].map(|name| report.callsite(name).unwrap());
    let off = |row: &CallsiteReport| row.total_ticks() - row.on_cpu_ticks().unwrap();
    let own_off = |row: &CallsiteReport| row.self_ticks() - row.self_on_cpu_ticks().unwrap();
    assert!((off(inner) / own_off(inner) - 1.0).abs() < 1e-9);
    // A preemption outside of the inner call counts only for the outer one.
    assert!(off(outer) >= off(inner));
    assert!(
        (off(outer) - own_off(outer)) / off(inner) > 0.99,
        "{outer:?} {inner:?}"
    );
}

/// Other threads take most of the wall time, and nothing of totals and means.
#[test]
fn busy_threads_change_no_net_figure() {
    #[cycles(name = "in peace")]
    fn in_peace() {
        compute();
    }
    #[cycles(name = "in a crowd")]
    fn in_a_crowd() {
        compute();
    }
    fn compute() {
        (0..1_000_000_u64).for_each(|turn| _ = black_box(turn));
    }
    if !is_split() {
        return;
    }
    let cpu = affinity::cpus().unwrap()[0];
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let _pinned = affinity::pin(cpu);
        (0..20).for_each(|_| in_peace());
        for _ in 0..4 {
            scope.spawn(|| {
                let _pinned = affinity::pin(cpu);
                while !done.load(Relaxed) {
                    compute();
                }
            });
        }
        (0..20).for_each(|_| in_a_crowd());
        done.store(true, Relaxed);
    });
    let (peace, crowd) = (row("in peace"), row("in a crowd"));
    assert!(crowd.wall_ticks() > 2.0 * crowd.total_ticks(), "{crowd:?}");
    let near = |one: f64, other: f64| (0.4..2.5).contains(&(one / other));
    assert!(
        near(crowd.total_ticks(), peace.total_ticks()),
        "{peace:?} {crowd:?}"
    );
    let means = [&peace, &crowd].map(|row| row.mean_ticks().unwrap());
    assert!(near(means[1], means[0]), "{peace:?} {crowd:?}");
    let all = means[1] * 20.0;
    assert!((all / crowd.total_ticks() - 1.0).abs() < 1e-6, "{crowd:?}");
}

/// A signal interrupts the call but takes no time off the CPU, and the call is long enough on the CPU to be a sample.
#[test]
fn long_call_with_a_signal_is_repaired() {
    extern "C" fn nothing(_: libc::c_int) {}
    #[cycles(name = "computes through a signal")]
    fn computes() {
        // SAFETY: the signal has a handler.
        unsafe { libc::raise(libc::SIGUSR1) };
        let start = cpu_time();
        while cpu_time() - start < Duration::from_millis(20) {}
    }
    if !is_known() {
        return;
    }
    let handler = nothing as extern "C" fn(libc::c_int);
    // SAFETY: the handler does nothing.
    unsafe { libc::signal(libc::SIGUSR1, handler as libc::sighandler_t) };
    (0..11).for_each(|_| computes());
    let row = row("computes through a signal");
    assert_eq!((row.calls(), row.interrupted()), (11, Some(11)));
    // If other threads preempt this one very often, some calls are excluded instead of repaired.
    assert_eq!(row.repaired().unwrap() + row.excluded().unwrap(), 10);
    assert_eq!(row.samples(), row.repaired().unwrap());
    assert!(row.repaired().unwrap() > 0, "{row:?}");
    assert!(row.mean_ticks() <= row.wall_mean_ticks());
}

/// What an expression of `record = …` takes is overhead for its caller, and what it waits is not subtracted again.
#[test]
fn caller_of_an_expression_that_waits_keeps_its_time_on_the_cpu() {
    const WAIT: Duration = Duration::from_millis(50);
    static HAS_WAITED: AtomicBool = AtomicBool::new(false);
    fn waits() -> bool {
        thread::sleep(WAIT);
        HAS_WAITED.swap(true, Relaxed)
    }
    // Long enough to be among the slowest calls, of which alone the value is asked for.
    #[cycles(name = "records after a wait", record = waits())]
    fn records() {
        let start = cpu_time();
        while cpu_time() - start < WAIT / 50 {}
    }
    #[cycles(name = "computes after an expression")]
    fn computes() {
        let start = cpu_time();
        records();
        while cpu_time() - start < WAIT {}
    }
    if !is_known() {
        return;
    }
    computes();
    assert!(HAS_WAITED.load(Relaxed));
    let row = row("computes after an expression");
    let wanted = WAIT.as_secs_f64() * calibration::rate().unwrap().hz;
    let on_cpu = row.on_cpu_ticks().unwrap();
    assert!(on_cpu > 0.6 * wanted, "{on_cpu} of {wanted}: {row:?}");
}

/// A future's drop is noted on a thread that has no record of it yet.
#[test]
fn what_a_caller_waits_before_it_drops_a_future_is_not_on_the_cpu() {
    const WAIT: Duration = Duration::from_millis(50);
    #[cycles(name = "never completes")]
    async fn never() {
        std::future::pending::<()>().await;
    }
    #[cycles(name = "waits and drops")]
    fn waits<F>(future: F) {
        thread::sleep(WAIT);
        drop(future);
    }
    if !is_known() {
        return;
    }
    let polled = thread::spawn(|| {
        let mut future = Box::pin(never());
        let mut context = Context::from_waker(Waker::noop());
        assert!(future.as_mut().poll(&mut context).is_pending());
        future
    });
    waits(polled.join().unwrap());
    let row = row("waits and drops");
    if !tests::shows_sleep(&row) {
        return;
    }
    let wait = WAIT.as_secs_f64() * calibration::rate().unwrap().hz;
    let on_cpu = row.on_cpu_ticks().unwrap();
    assert!(on_cpu < 0.4 * wait, "{on_cpu} of {wait}: {row:?}");
}

/// Checks that a dump contains these words, even if they are spread over several lines.
fn assert_printed(dump: &str, words: &str) {
    let line = dump.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(line.contains(words), "{dump}");
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// Runs one of the ignored tests below in a process of its own.
fn child(name: &str, change: impl FnOnce(&mut Command)) -> String {
    let mut command = tests::program(env::current_exe().expect("the test's own path"));
    command
        .args(["--ignored", "--exact", "--nocapture", name])
        .env("TSC_REPORT", "off");
    change(&mut command);
    let output = command.output().expect("the test can be started");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{} {text}\n{errors}",
        output.status
    );
    text
}

#[test]
fn threads_that_end_leave_no_descriptor() {
    child("child_with_many_threads", |_| {});
}

#[test]
#[ignore = "started by threads_that_end_leave_no_descriptor"]
fn child_with_many_threads() {
    sleeping();
    let before = descriptors();
    for _ in 0..100 {
        thread::spawn(|| (0..2).for_each(|_| sleeping()))
            .join()
            .unwrap();
    }
    assert_eq!(descriptors(), before);
    // The calls of all threads are in the report, too.
    assert_eq!(row("sleeping").calls(), 201);
}

#[test]
fn programs_descriptors_are_its_own() {
    child("child_that_closes_what_it_does_not_know", |_| {});
}

/// The child closes descriptors that it did not open, as daemons do, and then opens files, which get the same numbers.
#[test]
#[ignore = "started by programs_descriptors_are_its_own"]
fn child_that_closes_what_it_does_not_know() {
    thread::spawn(|| {
        sleeping();
        // SAFETY: from descriptor 3 on, this process has only those that the runtime has opened.
        unsafe { libc::syscall(libc::SYS_close_range, 3, 200, 0) };
        let files: Vec<_> = (0..5)
            .map(|_| fs::File::open("/proc/self/exe").unwrap())
            .collect();
        (0..10).for_each(|_| sleeping());
        // The files are still open, so the runtime has not closed them.
        assert!(files.iter().all(|file| file.metadata().is_ok()));
        files
    })
    .join()
    .unwrap()
    .iter()
    .for_each(|file| assert!(file.metadata().is_ok()));
    let row = row("sleeping");
    assert_eq!(row.calls(), 11);
    if row.on_cpu_ticks().is_some() && tests::shows_sleep(&row) {
        assert!(row.total_ticks() > 2.0 * row.on_cpu_ticks().unwrap());
    }
}

#[test]
fn process_without_descriptors_knows_what_was_lost() {
    child("child_without_descriptors", |_| {});
}

#[test]
#[ignore = "started by process_without_descriptors_knows_what_was_lost"]
fn child_without_descriptors() {
    let limit = libc::rlimit {
        rlim_cur: 3,
        rlim_max: 3,
    };
    // SAFETY: the struct is a limit.
    let refused = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    assert_eq!(refused, 0);
    (0..10).for_each(|_| sleeping());
    let report = snapshot();
    let row = report.callsite("sleeping").unwrap();
    assert_eq!(row.calls(), 10);
    if report.clock().no_interruptions_because().is_some() || !tests::shows_sleep(row) {
        return;
    }
    assert!(row.on_cpu_ticks().unwrap() < 0.5 * row.total_ticks());
    assert_eq!((row.blocked_ticks(), row.waiting_ticks()), (None, None));
    assert_printed(&report.to_string(), "schedstat cannot be read here");
}

#[test]
fn child_of_a_fork_measures_itself() {
    child("child_that_forks", |_| {});
}

#[test]
#[ignore = "started by child_of_a_fork_measures_itself"]
fn child_that_forks() {
    (0..5).for_each(|_| sleeping());
    let before = descriptors();
    // SAFETY: the child ends by `_exit`.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let passed = std::panic::catch_unwind(|| {
            (0..5).for_each(|_| sleeping());
            let row = row("sleeping");
            assert_eq!((row.calls(), descriptors()), (5, before));
            // The child's figures do not include the parent's CPU time and waiting time.
            if let Some(on_cpu) = row.on_cpu_ticks()
                && tests::shows_sleep(&row)
            {
                assert!(on_cpu >= 0.0 && on_cpu < 0.5 * row.total_ticks(), "{row:?}");
                assert!(row.waiting_ticks().is_none_or(|waiting| waiting >= 0.0));
            }
        });
        // SAFETY: ends the child alone.
        unsafe { libc::_exit(i32::from(passed.is_err())) };
    }
    let mut status = 0;
    // SAFETY: waits for the child, and writes its status.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    assert_eq!(status, 0);
    (0..5).for_each(|_| sleeping());
    assert_eq!(row("sleeping").calls(), 10);
}

#[test]
fn sandbox_that_forbids_to_ask_is_survived() {
    child("child_in_a_sandbox", |_| {});
}

#[test]
#[ignore = "started by sandbox_that_forbids_to_ask_is_survived"]
fn child_in_a_sandbox() {
    // This thread asks the kernel before the system calls are forbidden, and another thread begins after that.
    sleeping();
    forbid(&[libc::SYS_clock_gettime, libc::SYS_pread64]);
    /// `clock_gettime64`, which the C library calls in a process of 32 bits, and whose number the crate `libc` lacks.
    #[cfg(target_arch = "x86")]
    const CLOCK_GETTIME_64: libc::c_long = 403;
    #[cfg(target_arch = "x86")]
    forbid(&[CLOCK_GETTIME_64]);
    (0..5).for_each(|_| sleeping());
    thread::spawn(|| (0..5).for_each(|_| sleeping()))
        .join()
        .unwrap();
    let report = snapshot();
    let row = report.callsite("sleeping").unwrap();
    assert_eq!(row.calls(), 11);
    assert!(row.total_ticks() > 0.0 && row.mean_ticks().is_some());
    if report.clock().no_interruptions_because().is_none() {
        assert_eq!((row.on_cpu_ticks(), row.blocked_ticks()), (None, None));
        assert_printed(
            &report.to_string(),
            "on the CPU: unknown of interrupted calls",
        );
    }
}

#[test]
fn asking_can_be_turned_off() {
    child("child_that_does_not_ask", |command| {
        command.env("TSC_ON_CPU", "off");
    });
}

#[test]
#[ignore = "started by asking_can_be_turned_off"]
fn child_that_does_not_ask() {
    let before = descriptors();
    (0..5).for_each(|_| sleeping());
    assert_eq!(descriptors(), before);
    let report = snapshot();
    let row = report.callsite("sleeping").unwrap();
    assert_eq!((row.calls(), row.on_cpu_ticks()), (5, None));
    if report.clock().no_interruptions_because().is_none() {
        assert_eq!(report.clock().no_on_cpu_because(), Some("TSC_ON_CPU=off"));
    }
}

#[test]
fn without_rseq_every_row_has_figures_by_the_wall() {
    if !tests::can_disable_rseq() {
        return;
    }
    child("child_without_rseq", |command| {
        command.env("GLIBC_TUNABLES", "glibc.pthread.rseq=0");
    });
}

#[test]
#[ignore = "started by without_rseq_every_row_has_figures_by_the_wall"]
fn child_without_rseq() {
    #[cycles(name = "short")]
    fn short(value: u64) -> u64 {
        black_box(value)
    }
    (0..100).for_each(|value| _ = short(value));
    thread::spawn(|| short(1)).join().unwrap();
    (0..10).for_each(|_| sleeping());
    let report = snapshot();
    assert!(report.clock().no_interruptions_because().is_some());
    for (name, calls) in [("short", 101), ("sleeping", 10)] {
        let row = report.callsite(name).unwrap();
        assert_eq!((row.calls(), row.unknown()), (calls, calls));
        assert_eq!((row.clean(), row.interrupted()), (None, None));
        assert_eq!((row.on_cpu_ticks(), row.blocked_ticks()), (None, None));
        let figures = [
            row.mean_ticks(),
            row.p50_ticks(),
            row.p99_ticks(),
            row.wall_mean_ticks(),
            row.wall_p50_ticks(),
            row.wall_p99_ticks(),
            row.wall_max_ticks(),
        ];
        assert!(figures.iter().all(Option::is_some), "{row:?}");
        assert_eq!(row.mean_ticks(), row.wall_mean_ticks());
    }
    assert_printed(&report.to_string(), "all ticks are wall time");
}
