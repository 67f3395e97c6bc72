//! A program that measures runs to its end even where it cannot use the counter, the CPU or the detector, and says what it did instead. A
//! test prints that it was skipped if what it needs is not installed.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::process::Command;

use tests::folder::Folder;
use tests::program;
use tests::sandboxed::{Run, installed};

fn child() -> Command {
    program(env!("CARGO_BIN_EXE_sandboxed"))
}

#[test]
fn plain_run_says_nothing_bad() {
    let run = Run::of(&mut child());
    run.assert_complete();
    run.assert_found("emulation", "good", "");
    run.assert_found("counter", "good", "");
}

#[test]
fn everything_that_decides_is_looked_at() {
    let run = Run::of(&mut child());
    for name in [
        "CPU",
        "microcode",
        "hypervisor",
        "emulation",
        "counter",
        "invariant counter",
        "RDTSCP",
        "LFENCE",
        "kernel's clock",
        "interruptions",
        "placement",
        "governor",
        "boost",
        "SMT",
        "resolution",
        "read of the counter",
        "fence lfence",
        "fence none",
        "fence rdtscp",
        "fence mfence",
        "fence serialize",
        "fence cpuid",
        "rate",
        "core clock",
        "time taken away",
        "skew between CPUs",
        "context switch",
    ] {
        run.finding(name);
    }
}

#[test]
fn forbidden_rdtsc_is_replaced_by_the_systems_clock() {
    let run = Run::of(child().arg("forbid-rdtsc"));
    run.assert_complete();
    run.assert_found("counter", "BAD", "PR_TSC_SIGSEGV");
    assert!(
        run.findings.contains("rate: 1000.000 MHz exactly"),
        "{}",
        run.findings
    );
    // The dump also says that RDTSC is forbidden, and its unit is nanoseconds and not ticks.
    assert!(run.report.contains("PR_TSC_SIGSEGV"), "{}", run.report);
    assert!(run.report.contains("total ns"), "{}", run.report);
    // A reading takes a system call, which is measured, and subtracted from each call.
    let full = child()
        .arg("forbid-rdtsc")
        .env("TSC_REPORT", "full")
        .output();
    let full = full.expect("the program starts").stderr;
    let full = String::from_utf8_lossy(&full);
    let probe = full.lines().find(|line| line.contains("probe: "));
    assert!(
        probe.is_some_and(|line| line.contains(" in all, subtracted")),
        "{full}"
    );
    assert!(
        probe.is_some_and(|line| line.contains(" ns in a call, ")),
        "{full}"
    );
}

/// Whatever measures first, and however many threads wait: a wait must not read the counter either.
#[test]
fn threads_may_wait_for_each_other_where_rdtsc_is_forbidden() {
    let run = Run::of(child().args(["forbid-rdtsc", "lines"]));
    let is_whole = |line: &&str| line.starts_with(":CLK: let _one = 1 ") && line.ends_with(" ns");
    let lines = run.findings.lines();
    assert_eq!(lines.filter(is_whole).count(), 4000, "{}", run.findings);
}

#[test]
fn disabled_rseq_leaves_interruptions_untold() {
    if !tests::can_disable_rseq() {
        return;
    }
    let run = Run::of(child().env("GLIBC_TUNABLES", "glibc.pthread.rseq=0"));
    run.assert_complete();
    run.assert_found("interruptions", "", "not detected");
    assert!(run.report.contains("not detected"), "{}", run.report);
}

#[test]
fn nothing_asks_for_the_time_if_both_variables_are_off() {
    let both = [("TSC_ON_CPU", "off"), ("TSC_REPORT", "off")];
    Run::of(child().arg("kill-for-time").envs(both));
}

#[test]
fn report_is_printed_where_nothing_tells_what_standard_error_is() {
    let run = Run::of(child().arg("forbid-files"));
    assert!(
        run.report.contains(":CLK: sum_of_squares"),
        "{}",
        run.report
    );
}

#[test]
fn forbidden_thread_is_missed_if_it_was_asked_for() {
    let report = |variable: &str, value: &str| {
        Run::of(child().arg("forbid-threads").env(variable, value)).report
    };
    for (variable, value) in [("TSC_REPORT_EVERY", "1h"), ("TSC_DUMP_SIGNAL", "USR1")] {
        let report = report(variable, value);
        let said = report.find("have no effect: no thread can be started");
        assert!(said.is_some() && report.contains(":CLK: "), "{report}");
    }
    let report = report("TSC_SIGNALS", "on");
    assert!(!report.contains("no thread"), "{report}");
}

/// A tracer stops the thread at each system call, so each question seems to interrupt the thread anew.
#[test]
fn calls_do_not_ask_the_kernel_because_it_was_asked() {
    let Some(strace) = installed(&["strace"]) else {
        return;
    };
    let mut traced = program(strace);
    traced.args(["-f", "-e", "trace=clock_gettime"]);
    traced.arg(child().get_program()).arg("forbid-files");
    let output = traced.output().expect("strace starts");
    let lines = String::from_utf8_lossy(&output.stderr);
    // Some sandboxes forbid to trace.
    if output.status.success() {
        let asked = lines.matches("CLOCK_THREAD_CPUTIME_ID").count();
        assert!(asked < 1000, "asked {asked} times in 2000 calls");
    }
}

#[test]
fn valgrind_is_told() {
    let Some(valgrind) = installed(&["valgrind"]) else {
        return;
    };
    // valgrind does not know musl's allocator, and finds errors in it.
    let status_of_errors = if cfg!(target_env = "musl") { 0 } else { 99 };
    let run = Run::of(
        program(valgrind)
            .arg("--quiet")
            .arg(format!("--error-exitcode={status_of_errors}"))
            .arg(child().get_program()),
    );
    run.assert_complete();
    run.assert_found("emulation", "BAD", "Valgrind");
    assert!(run.report.contains("Valgrind"), "{}", run.report);
}

/// It checks that a system call is given only what has been written, and that the report frees what it allocates.
#[test]
fn valgrind_finds_no_error_in_the_clock_and_no_lost_memory() {
    let Some(valgrind) = installed(&["valgrind"]).filter(|_| cfg!(target_env = "gnu")) else {
        return;
    };
    let folder = Folder::new("under-valgrind");
    let output = program(valgrind)
        .args(["--quiet", "--error-exitcode=99"])
        .args(["--leak-check=full", "--errors-for-leak-kinds=definite"])
        .args([env!("CARGO_BIN_EXE_lightly"), "until-ticked"])
        .env("TSC_REPORT_FILE", folder.path("report.txt"))
        .output()
        .expect("valgrind starts");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn user_mode_qemu_is_told() {
    let Some(qemu) = installed(&["qemu-x86_64", "qemu-x86_64-static"]) else {
        return;
    };
    let run = Run::of(program(qemu).arg(child().get_program()));
    run.assert_complete();
    run.assert_found("emulation", "BAD", "QEMU");
    assert!(run.report.contains("QEMU"), "{}", run.report);
}

/// rr itself needs a PMU, so this test only sets the environment variable by which rr is recognised.
#[test]
fn rr_is_told() {
    let run = Run::of(child().env("RUNNING_UNDER_RR", "1"));
    run.assert_complete();
    run.assert_found("emulation", "BAD", "rr");
    // Once, in the heading.
    assert_eq!(
        run.report.matches("(distrusted)").count(),
        1,
        "{}",
        run.report
    );
}

#[test]
fn forbidden_placement_is_named() {
    let run = Run::of(child().arg("forbid-placement"));
    run.assert_complete();
    let finding = run.finding("context switch");
    assert!(finding.contains("not measured: "), "{finding}");
    assert!(!finding.contains("does not answer"), "{finding}");
}

#[test]
fn process_on_one_cpu_has_no_skew_to_look_for() {
    let Some(taskset) = installed(&["taskset"]) else {
        return;
    };
    let cpu = tsc_runtime::affinity::cpus().unwrap()[0].to_string();
    let run = Run::of(
        program(taskset)
            .args(["-c", &cpu])
            .arg(child().get_program()),
    );
    run.assert_complete();
    run.assert_found("placement", "", &format!("pinned to CPU {cpu}"));
    run.assert_found("skew", "good", "");
}
