//! Tests with events that every machine has, in functions in which their number is known.

use std::env;
use std::io::{self, Read as _, Write as _};
use std::process::{Command, Output};
use std::time::Duration;

use crate::probe::polls::{FutureTotals, PollProbe};
use crate::probe::{Probe, Slot};
use crate::record::callsite::{Callsite, meta};
use crate::tsc::Lfence;
use tsc_report::{CallsiteReport, Report};

macro_rules! measured {
    ($name:ident, $body:block) => {{
        static CALLSITE: Callsite =
            Callsite::new::<Lfence>(meta(&(), module_path!(), line!()).named(stringify!($name)));
        let mut slot = Slot::new();
        let _probe = Probe::<Lfence>::start(&CALLSITE, &mut slot);
        $body
    }};
}

/// An upper bound for the other page faults in all calls of a test: those of the stack, the code and the allocator. If each call were
/// charged with one call of [`fault`] too many, the count would exceed it.
const FEW: i64 = 400;
const PAGES: usize = 64;
const PAGE: usize = 4096;

/// Writes to this many pages for the first time.
fn fault() {
    measured!(fault, {
        // SAFETY: the memory is new, belongs to this function, and is unmapped at the end.
        unsafe {
            let memory = libc::mmap(
                std::ptr::null_mut(),
                PAGES * PAGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(memory, libc::MAP_FAILED);
            libc::madvise(memory, PAGES * PAGE, libc::MADV_NOHUGEPAGE);
            for page in 0..PAGES {
                memory.cast::<u8>().add(page * PAGE).write_volatile(1);
            }
            libc::munmap(memory, PAGES * PAGE);
        }
    });
}

fn outer() {
    measured!(outer, {
        fault();
        fault();
    });
}

fn recursive(depth: u32) {
    measured!(recursive, {
        if depth > 0 {
            recursive(depth - 1);
        } else {
            fault();
        }
    });
}

fn polls() {
    static FUTURE: Callsite = Callsite::new::<Lfence>(meta(&(), module_path!(), line!()));
    measured!(polls, {
        let mut future = FutureTotals::new();
        for _ in 0..2 {
            let mut slot = Slot::new();
            let _probe = PollProbe::<Lfence>::begin(&FUTURE, &mut slot, &mut future);
            fault();
        }
        future.complete(&FUTURE);
        fault();
    });
}

fn sleeps() {
    measured!(sleeps, { std::thread::sleep(Duration::from_millis(2)) });
}

fn spins() {
    measured!(spins, {
        for turn in 0..1000 {
            std::hint::black_box(turn);
        }
    });
}

/// Runs this test alone in a process that counts `events`.
fn alone(test: &str, events: &str) -> Output {
    let output = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            &format!("events::present::tests::{test}"),
            "--nocapture",
        ])
        .env("TSC_EVENTS", events)
        .env("TSC_REPORT", "off")
        .env("TSC_TEST_ALONE", "1")
        .output()
        .unwrap();
    // If no test has this name, none is run, and that is a success, too.
    let is_run = String::from_utf8_lossy(&output.stdout).contains("1 passed");
    assert!(output.status.success() && is_run, "{output:?}");
    output
}

fn is_alone() -> bool {
    env::var_os("TSC_TEST_ALONE").is_some()
}

fn count(report: &Report, row: &str, event: &str) -> Option<(u64, i64)> {
    let row: &CallsiteReport = report.callsite(row)?;
    let counted = row.events().iter().find(|it| it.event() == event)?;
    Some((counted.calls(), counted.count()))
}

#[test]
fn page_faults_are_counted_where_they_happen() {
    const CALLS: u64 = 20;
    if !is_alone() {
        let printed = alone("page_faults_are_counted_where_they_happen", "page-faults");
        let is_skipped = String::from_utf8_lossy(&printed.stderr).contains("SKIPPED");
        assert!(printed.stderr.is_empty() || is_skipped, "{printed:?}");
        return;
    }
    for _ in 0..CALLS {
        outer();
        polls();
        spins();
    }
    (0..CALLS).for_each(|_| recursive(5));
    let report = crate::take();
    let Some((calls, faults)) = count(&report, "fault", "page-faults") else {
        eprintln!("SKIPPED: perf events are refused here");
        return;
    };
    let each = |calls: u64| (PAGES as u64 * calls) as i64;
    assert_eq!(calls, 6 * CALLS);
    assert!(
        (each(calls)..each(calls) + FEW).contains(&faults),
        "{faults}"
    );
    for (row, faults_of) in [
        ("outer", 2 * CALLS),
        ("polls", 3 * CALLS),
        ("recursive", CALLS),
    ] {
        let (calls, faults) = count(&report, row, "page-faults").unwrap();
        assert_eq!(calls, CALLS, "{row}");
        assert!(
            (each(faults_of)..each(faults_of) + FEW).contains(&faults),
            "{row} {faults}"
        );
    }
    let (_, faults) = count(&report, "spins", "page-faults").unwrap();
    assert!((0..FEW).contains(&faults), "{faults}");
    // One call in six faults, the innermost one. The outermost calls, which are counted, contain the others.
    let text = report.to_string();
    let each: f64 = text
        .split(":CLK:")
        .find(|row| row.contains("tests::recursive "))
        .and_then(|row| row.split_once("page-faults "))
        .and_then(|(_, each)| each.split([' ', ';', '\n']).next()?.parse().ok())
        .unwrap_or_else(|| panic!("{text}"));
    let per_call = |faults: f64| faults / (6 * CALLS) as f64;
    let counted = (PAGES as u64 * CALLS) as f64;
    let expected = per_call(counted)..per_call(counted + FEW as f64);
    assert!(expected.contains(&each), "{text}");
    let mut twice = report.clone();
    twice.merge(&report).unwrap();
    let (calls, faults) = count(&report, "fault", "page-faults").unwrap();
    let both = count(&twice, "fault", "page-faults");
    assert_eq!(both, Some((2 * calls, 2 * faults)));
    // That report has reset the counts.
    spins();
    let report = crate::snapshot();
    assert_eq!(count(&report, "fault", "page-faults"), None);
    assert_eq!(
        count(&report, "spins", "page-faults").map(|it| it.0),
        Some(1)
    );
    crate::reset();
    spins();
    let report = crate::snapshot();
    assert_eq!(
        count(&report, "spins", "page-faults").map(|it| it.0),
        Some(1)
    );
}

#[test]
fn each_thread_has_its_own_counters() {
    if !is_alone() {
        alone(
            "each_thread_has_its_own_counters",
            "context-switches,page-faults",
        );
        return;
    }
    // The main thread decides what is counted before the other threads' first calls, because they would wait only for a limited time.
    spins();
    let threads: Vec<_> = (0..3)
        .map(|_| std::thread::spawn(|| (0..10).for_each(|_| sleeps())))
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    let report = crate::snapshot();
    match count(&report, "sleeps", "context-switches") {
        // A sleep causes a context switch.
        Some((calls, switches)) => assert!(calls == 30 && switches >= 30, "{calls} {switches}"),
        None => eprintln!("SKIPPED: perf events of the kernel are refused here"),
    }
}

#[test]
fn what_cannot_be_counted_is_said() {
    if !is_alone() {
        let output = alone(
            "what_cannot_be_counted_is_said",
            "instructions,pages,page-faults",
        );
        let printed = String::from_utf8(output.stderr).unwrap();
        assert!(
            printed
                .contains("TSC_EVENTS=pages is none of page-faults, minor-faults, major-faults, ")
                && printed.contains(", iTLB-load-misses: expected a list of events"),
            "{printed}"
        );
        assert!(!printed.contains("default is used: none"), "{printed}");
        let is_said = printed.contains("events: instructions: ");
        let is_counted = printed.contains("instructions are counted");
        assert!(is_said != is_counted, "{printed}");
        return;
    }
    spins();
    spins();
    let report = crate::snapshot();
    if let Some((calls, instructions)) = count(&report, "spins", "instructions") {
        eprintln!("instructions are counted");
        // At least two instructions in each of a thousand iterations.
        assert!(
            instructions >= 2000 * calls as i64,
            "{calls} {instructions}"
        );
    }
}

#[test]
fn nothing_is_counted_unless_asked_for() {
    spins();
    if !is_alone() {
        let report = crate::snapshot();
        assert!(report.callsite("spins").unwrap().events().is_empty());
    }
}

/// A program closes descriptors that it did not open, as daemons do, and opens pipes, which get the same numbers. Nothing is read from
/// these, and none is closed at the thread's end.
#[test]
fn programs_descriptors_are_its_own() {
    const TEXT: &[u8] = b"0123456789";
    if !is_alone() {
        alone("programs_descriptors_are_its_own", "page-faults");
        return;
    }
    // SAFETY: ends this process if it hangs.
    unsafe { libc::alarm(60) };
    let pipes = std::thread::spawn(|| {
        (0..3).for_each(|_| spins());
        // SAFETY: from descriptor 3 on, this process has only those that the runtime has opened.
        unsafe { libc::syscall(libc::SYS_close_range, 3, !0_u32, 0) };
        let pipes: Vec<_> = (0..8).map(|_| io::pipe().unwrap()).collect();
        for (_, writer) in &pipes {
            assert_eq!((&*writer).write(TEXT).unwrap(), TEXT.len());
        }
        (0..3).for_each(|_| spins());
        outer();
        pipes
    })
    .join()
    .unwrap();
    for (mut reader, writer) in pipes {
        drop(writer);
        let mut text = Vec::new();
        reader.read_to_end(&mut text).unwrap();
        assert_eq!(text, TEXT);
    }
    // The counters are opened again.
    let report = crate::snapshot();
    let Some((calls, _)) = count(&report, "spins", "page-faults") else {
        eprintln!("SKIPPED: perf events are refused here");
        return;
    };
    assert!((5..=6).contains(&calls), "{calls}");
    let (_, faults) = count(&report, "outer", "page-faults").unwrap();
    assert!((2 * PAGES as i64..FEW).contains(&faults), "{faults}");
}

/// The counters of a thread whose descriptors the program has closed are opened again, also at the end of a call.
#[test]
fn error_number_of_a_call_is_the_programs() {
    if !is_alone() {
        alone("error_number_of_a_call_is_the_programs", "page-faults");
        return;
    }
    std::thread::spawn(|| {
        spins();
        measured!(fails, {
            // SAFETY: as above.
            unsafe { libc::syscall(libc::SYS_close_range, 3, !0_u32, 0) };
            // SAFETY: the call fails, because there is no such folder.
            assert_eq!(unsafe { libc::chdir(c"/no such folder".as_ptr()) }, -1);
        });
        let error = io::Error::last_os_error();
        assert_eq!(error.kind(), io::ErrorKind::NotFound, "{error}");
    })
    .join()
    .unwrap();
}

/// The time of reading the counters is not part of the calls.
#[test]
fn time_of_reading_is_taken_out() {
    const CALLS: u32 = 2000;
    /// Less than any system call takes.
    const LEAST_SYSTEM_CALL: f64 = 50.0;
    if !is_alone() {
        alone("time_of_reading_is_taken_out", "page-faults");
        return;
    }
    measured!(around, { (0..CALLS).for_each(|_| spins()) });
    let report = crate::snapshot();
    let [around, spins] = ["around", "spins"].map(|row| report.callsite(row).unwrap().clone());
    if spins.events().is_empty() {
        return;
    }
    // For each call, the cost of the probe and of two system calls.
    let overheads = report.clock().overheads();
    let probe = overheads.iter().find(|it| it.fence() == "lfence").unwrap();
    let least = f64::from(CALLS) * (probe.total_ticks() + 2.0 * LEAST_SYSTEM_CALL);
    assert!(around.nested_overhead_ticks() > least, "{around:?}");
    assert!(spins.nested_overhead_ticks() == 0.0, "{spins:?}");
}
