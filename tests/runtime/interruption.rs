//! The detection of interrupted calls: see `tsc-core/src/interruption`.
#![cfg(all(target_os = "linux", any(target_arch = "x86", target_arch = "x86_64")))]

use std::cell::Cell;
use std::env;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use tests::{row, skipped};
use tsc_runtime::tsc::{FencePolicy, Unfenced};
use tsc_runtime::{cycles, snapshot};

/// Whether interruptions can be detected on this system. If not, prints the reason.
fn can_tell() -> bool {
    #[cycles(name = "probing")]
    fn probing() {}
    probing();
    let report = snapshot();
    if let Some(why) = report.clock().no_interruptions_because() {
        skipped(why);
    }
    report.clock().no_interruptions_because().is_none()
}

/// Installs a handler that does nothing for `signal`.
fn handle(signal: libc::c_int) {
    extern "C" fn nothing(_: libc::c_int) {}
    let handler = nothing as extern "C" fn(libc::c_int);
    // SAFETY: the handler does nothing.
    unsafe { libc::signal(signal, handler as libc::sighandler_t) };
}

#[test]
fn signal_is_an_interruption() {
    if !can_tell() {
        return;
    }
    #[cycles(name = "signalled")]
    fn signalled(signal: bool) {
        if signal {
            // SAFETY: the signal has a handler.
            unsafe { libc::raise(libc::SIGUSR1) };
        }
    }
    handle(libc::SIGUSR1);
    signalled(true);
    // The first call is recorded as the first one, although it was interrupted.
    let first = row("signalled");
    assert_eq!((first.calls(), first.clean()), (1, Some(0)));
    assert!(first.first_ticks().is_some() && first.interrupted_mean_ticks().is_none());
    (0..100).for_each(|_| signalled(true));
    let row = row("signalled");
    // A call that is also preempted may be so long that its ticks without that time are known well: it is a sample. Few are.
    let repaired = row.repaired().expect("interruptions are detected here");
    assert!(repaired < 50, "{repaired} of 100 are repaired");
    assert_eq!(
        (row.calls(), row.interrupted(), row.clean(), row.samples()),
        (101, Some(101), Some(0), repaired)
    );
    // Interrupted calls are in the totals.
    assert!(row.interrupted_mean_ticks().is_some());
    assert!(row.total_ticks() >= row.interrupted_mean_ticks().unwrap());
    // Interrupted calls have their own histogram, which the dump shows on request.
    let buckets = row.interrupted_histogram();
    assert_eq!(
        buckets.iter().map(|bucket| bucket.calls()).sum::<u64>(),
        100 - repaired
    );
    let (short, full) = (snapshot().to_string(), format!("{:#}", snapshot()));
    // A call that has waited for a CPU all the time has no ticks.
    let octave = match buckets[0].from_ticks().checked_ilog2() {
        Some(bit) => format!(" of {} ticks or more", 1_u64 << bit),
        None => " of no ticks".to_owned(),
    };
    let shown = |text: &str| {
        text.lines().any(|line| {
            let line = line.trim_start();
            line.starts_with("interrupted calls: ") && line.contains(&octave)
        })
    };
    assert!(shown(&full) && !shown(&short), "{full}");
}

#[test]
fn signal_in_an_inner_call_interrupts_the_outer_one() {
    if !can_tell() {
        return;
    }
    #[cycles(name = "around a signal")]
    fn outer() {
        inner(true);
        inner(false);
    }
    #[cycles(name = "with a signal")]
    fn inner(signal: bool) {
        if signal {
            // SAFETY: the signal has a handler.
            unsafe { libc::raise(libc::SIGURG) };
        }
    }
    handle(libc::SIGURG);
    (0..101).for_each(|_| outer());
    let (outer, inner) = (row("around a signal"), row("with a signal"));
    assert_eq!((outer.calls(), outer.interrupted()), (101, Some(101)));
    // At least half of the inner calls are interrupted. A preemption may interrupt some of the others, but not all.
    assert!(
        (101..200).contains(&inner.interrupted().unwrap()),
        "{:?}",
        inner.interrupted()
    );
}

#[test]
fn migration_is_an_interruption() {
    let cpus = tsc_runtime::affinity::cpus().unwrap_or_default();
    if !can_tell() {
        return;
    }
    if cpus.len() < 2 {
        return skipped("this process may run on one CPU only");
    }
    #[cycles(name = "migrated")]
    fn migrated(cpu: usize) {
        pin(cpu);
    }
    pin(cpus[1]);
    for n in 0..101 {
        migrated(cpus[n % 2]);
    }
    let row = row("migrated");
    assert_eq!((row.calls(), row.interrupted()), (101, Some(101)));
}

/// Moves this thread permanently to `cpu`.
fn pin(cpu: usize) {
    // SAFETY: the set is as large as said; `CPU_SET` checks the number.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set);
    }
}

#[test]
fn system_call_is_no_interruption() {
    if !can_tell() {
        return;
    }
    #[cycles(name = "system call")]
    fn system_call() {
        // SAFETY: takes nothing and cannot fail.
        unsafe { libc::syscall(libc::SYS_getppid) };
    }
    (0..1001).for_each(|_| system_call());
    let row = row("system call");
    assert_eq!(row.calls(), 1001);
    // Preemptions may fall on some of them, but not on most.
    assert!(row.samples() > 500, "{} of 1000 are clean", row.samples());
}

/// If two threads compete for one CPU, about as many calls are flagged as the kernel preempted. The numbers differ, because a call may be
/// preempted twice, and a thread between two calls. `trust` in studies/overhead prints how well they agree.
#[test]
fn preempted_calls_are_flagged() {
    if !can_tell() {
        return;
    }
    /// Long, so that the thread is hardly ever outside of a call, but far shorter than a time slice, so that few calls are preempted twice.
    const TICKS: u64 = 150_000;
    const SWITCHES: i64 = 60;
    const ROUNDS: usize = 5;
    #[cycles(name = "contended")]
    fn contended() {
        let start = Unfenced::start();
        while Unfenced::start().wrapping_sub(start) < TICKS {}
    }
    // The last one of the two has nobody to preempt it, so the end of either ends both.
    let is_over = AtomicBool::new(false);
    let fight = || {
        pin(tsc_runtime::affinity::cpus().unwrap_or_default()[0]);
        // The first call is recorded separately.
        contended();
        let before = involuntary_switches();
        while involuntary_switches() - before < SWITCHES && !is_over.load(Relaxed) {
            (0..100).for_each(|_| contended());
        }
        is_over.store(true, Relaxed);
        involuntary_switches() - before
    };
    let flagged = || {
        row("contended")
            .interrupted()
            .expect("interruptions are detected here")
    };
    // If the timer's interrupts come late, a thread is preempted when it asks for its switches, which is outside of a call.
    let mut found = Vec::new();
    for _ in 0..ROUNDS {
        is_over.store(false, Relaxed);
        let switches: i64 = thread::scope(|scope| {
            let fighters = [scope.spawn(fight), scope.spawn(fight)];
            fighters.map(|fighter| fighter.join().unwrap()).iter().sum()
        });
        let before: u64 = found.iter().map(|&(flagged, _)| flagged).sum();
        let flagged = flagged() - before;
        found.push((flagged, switches));
        if (0.5..1.5).contains(&(flagged as f64 / switches as f64)) {
            return;
        }
    }
    panic!("calls flagged and involuntary switches, in each round: {found:?}");
}

fn involuntary_switches() -> i64 {
    // SAFETY: the struct is all numbers, and getrusage may write it.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        #[allow(clippy::useless_conversion)] // a `c_long` has 32 bits on i686
        i64::from(usage.ru_nivcsw)
    }
}

/// A `struct rseq_cs` of another library, for example of an allocator with per-CPU caches.
#[repr(C, align(32))]
struct Foreign {
    version_and_flags: u64,
    start: u64,
    length: u64,
    abort: u64,
}

#[test]
fn another_librarys_sequence_makes_the_verdict_unknown() {
    if !can_tell() {
        return;
    }
    if !cfg!(target_env = "gnu") {
        return skipped("the thread's rseq area is found by what glibc exports");
    }
    // The kernel requires this signature before the abort address. The sequence is empty, so the thread is never inside it.
    static SIGNATURE: [u32; 2] = [0x5305_3053, 0];
    let address = (&raw const SIGNATURE[1]).addr() as u64;
    let foreign = Foreign {
        version_and_flags: 0,
        start: address,
        length: 0,
        abort: address,
    };
    let word = rseq_cs().expect("the runtime has found it too");
    #[cycles(name = "foreign")]
    fn in_use_by_another(word: *mut u64, value: u64) {
        // SAFETY: the word is this thread's, and the descriptor a valid one until it is taken out below.
        unsafe { word.write_volatile(value) };
    }
    in_use_by_another(word, 0);
    let (calls, value) = (Cell::new(0), (&raw const foreign).addr() as u64);
    (0..1000).for_each(|_| {
        in_use_by_another(word, value);
        calls.set(calls.get() + 1);
    });
    // SAFETY: the word is this thread's; 0 means that no descriptor is set.
    unsafe { word.write_volatile(0) };
    let row = row("foreign");
    assert_eq!(row.calls(), calls.get() + 1);
    // When a thread is preempted, the kernel removes the other library's descriptor. So a few calls may not be unknown.
    assert!(row.unknown() > 500, "{row:?}");
    // None of these calls counts as clean. A long preempted one may be a sample.
    assert_eq!(row.samples(), row.unknown() + row.sums().repaired());
}

fn rseq_cs() -> Option<*mut u64> {
    // SAFETY: the name is a C string; glibc's variable is a ptrdiff_t; the word at fs:0 is the thread pointer.
    unsafe {
        let offset = libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr())
            .cast::<isize>()
            .as_ref()?;
        let thread_pointer: *mut u8;
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!("mov {}, fs:0", out(reg) thread_pointer);
        #[cfg(target_arch = "x86")]
        std::arch::asm!("mov {}, gs:0", out(reg) thread_pointer);
        Some(thread_pointer.wrapping_offset(offset + 8).cast())
    }
}

const TUNABLE: &str = "glibc.pthread.rseq=0";

#[test]
fn process_without_rseq_knows_nothing_and_works() {
    if !tests::can_disable_rseq() {
        return;
    }
    let child = tests::program(env::current_exe().expect("the test's own path"))
        .args(["--ignored", "--exact", "child_without_rseq"])
        .env("GLIBC_TUNABLES", TUNABLE)
        .output()
        .expect("the test can be started");
    let output = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success() && output.contains("1 passed"),
        "{output}"
    );
}

#[test]
#[ignore = "started by process_without_rseq_knows_nothing_and_works"]
fn child_without_rseq() {
    assert_eq!(env::var("GLIBC_TUNABLES").as_deref(), Ok(TUNABLE));
    #[cycles(name = "without rseq")]
    fn without(depth: u32) -> u32 {
        if depth == 0 { 0 } else { without(depth - 1) }
    }
    (0..100).for_each(|_| _ = without(3));
    thread::spawn(|| without(3)).join().unwrap();
    let report = snapshot();
    let row = report.callsite("without rseq").unwrap();
    assert_eq!(row.calls(), 404);
    assert_eq!((row.clean(), row.interrupted()), (None, None));
    assert_eq!(row.unknown(), row.calls());
    assert!(row.mean_ticks().is_some());
    assert!(report.clock().no_interruptions_because().is_some());
}
