//! Measures a little, and prints everything that can be printed. `sandboxes.rs` runs it in restricted environments.
//!
//! With the argument `forbid-rdtsc`, it first forbids itself to execute RDTSC, as a sandbox does for its children. With `lines` after it, it only
//! prints lines of `gclk!`, from threads that wait for each other. With `kill-for-time` or `forbid-files`, it does nothing but work, and enters a
//! sandbox between two parts of the work, and with `forbid-threads`, before it. With `forbid-placement`, it does everything, in another sandbox.

use std::process::ExitCode;

use tsc_runtime::{affinity, calibration, cycles, report, self_test};

/// The number of calls of each of the two threads.
const CALLS: u64 = 1000;

#[cycles]
#[inline(never)]
fn sum_of_squares(of: &[u64]) -> u64 {
    of.iter()
        .map(|n| n.wrapping_mul(*n))
        .fold(0, u64::wrapping_add)
}

#[cycles]
fn called_later() {}

fn work() -> u64 {
    let numbers: Vec<u64> = (0..100).collect();
    (0..CALLS)
        .map(|_| sum_of_squares(&numbers))
        .max()
        .unwrap_or(0)
}

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("forbid-rdtsc") && !forbid_rdtsc() {
        eprintln!("PR_SET_TSC is refused");
        return ExitCode::from(77);
    }
    if std::env::args().nth(2).as_deref() == Some("lines") {
        tsc_runtime::gclk_to(std::io::stdout());
        print_lines();
        return ExitCode::SUCCESS;
    }
    #[cfg(target_os = "linux")]
    match std::env::args().nth(1).as_deref() {
        Some("kill-for-time") => {
            work();
            tests::sandboxed::kill_for(&[libc::SYS_clock_gettime]);
            work();
            called_later();
            let _ = std::thread::spawn(work).join();
            return ExitCode::SUCCESS;
        }
        #[cfg(target_arch = "x86_64")] // others name these calls differently
        Some("forbid-files") => {
            work();
            tests::sandboxed::forbid(&[libc::SYS_fstat, libc::SYS_newfstatat, libc::SYS_statx]);
            work();
            return ExitCode::SUCCESS;
        }
        Some("forbid-threads") => {
            tests::sandboxed::forbid(&[libc::SYS_clone, libc::SYS_clone3]);
            work();
            return ExitCode::SUCCESS;
        }
        Some("forbid-placement") => {
            tests::sandboxed::forbid(&[libc::SYS_sched_setaffinity]);
        }
        _ => {}
    }
    let pinned = affinity::cpus().and_then(|cpus| affinity::pin(cpus[0]));
    drop(pinned);
    let other = std::thread::spawn(work);
    let sums = (work(), other.join().ok());
    report();
    println!("{}", self_test::self_test());
    match calibration::rate() {
        Ok(rate) => println!("rate: {rate}"),
        Err(error) => println!("no rate: {error}"),
    }
    println!("sums: {sums:?}");
    ExitCode::SUCCESS
}

fn print_lines() {
    let lines = || {
        for _ in 0..500 {
            tsc_runtime::gclk!(let _one = 1);
        }
    };
    let threads: Vec<_> = (0..8).map(|_| std::thread::spawn(lines)).collect();
    for thread in threads {
        thread.join().expect("it does not panic");
    }
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "x86")))]
fn forbid_rdtsc() -> bool {
    // SAFETY: takes only numbers. From here on, RDTSC raises SIGSEGV on this thread and on those that it spawns.
    unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_SIGSEGV) == 0 }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "x86"))))]
fn forbid_rdtsc() -> bool {
    false
}
