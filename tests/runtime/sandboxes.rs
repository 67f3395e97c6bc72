//! A program that measures runs to its end even where it cannot use the counter, the CPU or the detector, and says what it did instead. A
//! test prints that it was skipped if what it needs is not installed.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::path::PathBuf;
use std::process::Command;

/// Everything that a run of the child printed.
struct Run {
    report: String,
    findings: String,
}

impl Run {
    fn of(command: &mut Command) -> Self {
        let output = command
            .env_remove("TSC_REPORT")
            .env_remove("TSC_REPORT_FILE")
            .output()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let run = Self {
            report: String::from_utf8_lossy(&output.stderr).into_owned(),
            findings: String::from_utf8_lossy(&output.stdout).into_owned(),
        };
        assert!(
            output.status.success(),
            "{command:?}: {}\n{}\n{}",
            output.status,
            run.report,
            run.findings
        );
        run
    }

    /// The self-test's lines on `name`: `VERDICT name value`, meaning, advice.
    fn finding(&self, name: &str) -> String {
        let mut lines = self.findings.lines();
        let first = lines
            .find(|line| line.get(10..).is_some_and(|line| line.starts_with(name)))
            .unwrap_or_else(|| panic!("nothing on {name} in:\n{}", self.findings));
        let more = lines.take_while(|line| line.starts_with("  "));
        std::iter::once(first)
            .chain(more)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Checks that every call was counted and that the program's own result is right.
    fn assert_complete(&self) {
        let row = self
            .report
            .lines()
            .find(|line| line.starts_with(":CLK: sum_of_squares"))
            .unwrap_or_else(|| panic!("no row in:\n{}", self.report));
        assert!(row.split_whitespace().any(|word| word == "2000"), "{row}");
        assert!(
            self.findings.contains("sums: (328350, Some(328350))"),
            "{}",
            self.findings
        );
    }
}

fn child() -> Command {
    Command::new(env!("CARGO_BIN_EXE_sandboxed"))
}

/// The first of these programs that is installed. If none is, prints that the test is skipped.
fn installed(programs: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|folder| programs.iter().map(move |program| folder.join(program)))
        .find(|program| program.is_file());
    if found.is_none() {
        tests::skipped(&format!("none of {programs:?} is installed"));
    }
    found
}

#[test]
fn plain_run_says_nothing_bad() {
    let run = Run::of(&mut child());
    run.assert_complete();
    assert!(
        run.finding("emulation").starts_with("good"),
        "{}",
        run.findings
    );
    assert!(
        run.finding("counter").starts_with("good"),
        "{}",
        run.findings
    );
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
    let counter = run.finding("counter");
    assert!(
        counter.starts_with("BAD") && counter.contains("PR_TSC_SIGSEGV"),
        "{counter}"
    );
    assert!(
        run.findings.contains("rate: 1000.000 MHz exactly"),
        "{}",
        run.findings
    );
    // The dump also says that RDTSC is forbidden, and its unit is nanoseconds and not ticks.
    assert!(run.report.contains("PR_TSC_SIGSEGV"), "{}", run.report);
    assert!(run.report.contains("net ns"), "{}", run.report);
    // A reading takes a system call, which is measured, and subtracted from each call.
    let full = child()
        .arg("forbid-rdtsc")
        .env("TSC_REPORT", "full")
        .env_remove("TSC_REPORT_FILE")
        .output();
    let full = full.expect("the program starts").stderr;
    let full = String::from_utf8_lossy(&full);
    let probe = full.lines().find(|line| line.contains("probe: "));
    assert!(
        probe.is_some_and(|line| line.contains("subtracted from the call")),
        "{full}"
    );
}

#[test]
fn disabled_rseq_leaves_interruptions_untold() {
    if !tests::can_disable_rseq() {
        return;
    }
    let run = Run::of(child().env("GLIBC_TUNABLES", "glibc.pthread.rseq=0"));
    run.assert_complete();
    let finding = run.finding("interruptions");
    assert!(finding.contains("not detected"), "{finding}");
    assert!(run.report.contains("not detected"), "{}", run.report);
}

#[test]
fn valgrind_is_told() {
    let Some(valgrind) = installed(&["valgrind"]) else {
        return;
    };
    // valgrind does not know musl's allocator, and finds errors in it.
    let status_of_errors = if cfg!(target_env = "musl") { 0 } else { 99 };
    let run = Run::of(
        Command::new(valgrind)
            .arg("--quiet")
            .arg(format!("--error-exitcode={status_of_errors}"))
            .arg(child().get_program()),
    );
    run.assert_complete();
    let emulation = run.finding("emulation");
    assert!(
        emulation.starts_with("BAD") && emulation.contains("Valgrind"),
        "{emulation}"
    );
    assert!(run.report.contains("Valgrind"), "{}", run.report);
}

#[test]
fn user_mode_qemu_is_told() {
    let Some(qemu) = installed(&["qemu-x86_64", "qemu-x86_64-static"]) else {
        return;
    };
    let run = Run::of(Command::new(qemu).arg(child().get_program()));
    run.assert_complete();
    let emulation = run.finding("emulation");
    assert!(
        emulation.starts_with("BAD") && emulation.contains("QEMU"),
        "{emulation}"
    );
    assert!(run.report.contains("QEMU"), "{}", run.report);
}

/// Builds the child for another target, with the toolchain's own linker and C library. If that target is not installed, prints that the
/// test is skipped.
fn built_for(target: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(target);
    let linker = format!(
        "CARGO_TARGET_{}_LINKER",
        target.to_uppercase().replace('-', "_")
    );
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--bin", "sandboxed", "--target", target])
        .args([
            "--manifest-path",
            concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
        ])
        .env("CARGO_TARGET_DIR", &folder)
        .env(linker, "rust-lld")
        .output()
        .unwrap_or_else(|error| panic!("cargo: {error}"));
    let why = String::from_utf8_lossy(&output.stderr);
    if why.contains("target may not be installed") || why.contains("`rust-lld` not found") {
        tests::skipped(&format!("{target} is not installed, or rust-lld"));
        return None;
    }
    assert!(output.status.success(), "{why}");
    Some(folder.join(target).join("debug/sandboxed"))
}

#[test]
fn c_library_without_rseq_is_stood_in_for() {
    let Some(child) = built_for("x86_64-unknown-linux-musl") else {
        return;
    };
    let run = Run::of(&mut Command::new(&child));
    run.assert_complete();
    assert!(
        run.finding("interruptions").contains("detected (rseq)"),
        "{}",
        run.findings
    );
    assert!(!run.report.contains("not detected"), "{}", run.report);
}

#[test]
fn other_architecture_reads_its_own_counter() {
    let Some(qemu) = installed(&["qemu-aarch64", "qemu-aarch64-static"]) else {
        return;
    };
    let Some(child) = built_for("aarch64-unknown-linux-musl") else {
        return;
    };
    let run = Run::of(Command::new(&qemu).args(["-cpu", "cortex-a72"]).arg(&child));
    run.assert_complete();
    assert!(run.report.contains("CNTVCT_EL0 "), "{}", run.report);
    let counter = run.finding("counter");
    assert!(counter.contains("CNTVCT_EL0, with an ISB"), "{counter}");
    assert!(
        run.report.contains("interruptions: not detected"),
        "{}",
        run.report
    );
    assert!(
        run.finding("emulation").contains("QEMU"),
        "{}",
        run.findings
    );
    // The newest CPU that this QEMU emulates has FEAT_ECV, if QEMU is 9.0 or later.
    let version = Command::new(&qemu).arg("--version").output().unwrap();
    let version = String::from_utf8_lossy(&version.stdout);
    let major = version
        .split_once("version ")
        .and_then(|(_, version)| version.split('.').next()?.parse::<u32>().ok());
    if major.is_none_or(|major| major < 9) {
        tests::skipped(&format!("FEAT_ECV needs QEMU 9.0 or later: {version}"));
        return;
    }
    let run = Run::of(Command::new(&qemu).args(["-cpu", "max"]).arg(&child));
    run.assert_complete();
    let counter = run.finding("counter");
    assert!(
        counter.contains("CNTVCTSS_EL0, which needs no ISB"),
        "{counter}"
    );
}

/// rr itself needs a PMU, so this test only sets the environment variable by which rr is recognised.
#[test]
fn rr_is_told() {
    let run = Run::of(child().env("RUNNING_UNDER_RR", "1"));
    run.assert_complete();
    let emulation = run.finding("emulation");
    assert!(
        emulation.starts_with("BAD") && emulation.contains("rr"),
        "{emulation}"
    );
    // Once, in the heading.
    assert_eq!(
        run.report.matches("(distrusted)").count(),
        1,
        "{}",
        run.report
    );
}

#[test]
fn process_on_one_cpu_has_no_skew_to_look_for() {
    let Some(taskset) = installed(&["taskset"]) else {
        return;
    };
    let cpu = tsc_runtime::affinity::cpus().unwrap()[0].to_string();
    let run = Run::of(
        Command::new(taskset)
            .args(["-c", &cpu])
            .arg(child().get_program()),
    );
    run.assert_complete();
    assert!(
        run.finding("placement")
            .contains(&format!("pinned to CPU {cpu}")),
        "{}",
        run.findings
    );
    assert!(run.finding("skew").starts_with("good"), "{}", run.findings);
}
