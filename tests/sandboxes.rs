//! A program that measures runs to its end in places that take the counter, the CPU or the detector away, and says what it did
//! instead. What is not installed here is skipped, and the skip is printed.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::path::PathBuf;
use std::process::Command;

/// What a run of the child printed, all of it.
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

    /// Every call was counted, and the program's own result is right.
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

/// The first of these programs that is installed; says so if none is.
fn installed(programs: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|folder| programs.iter().map(move |program| folder.join(program)))
        .find(|program| program.is_file());
    if found.is_none() {
        eprintln!("SKIPPED: none of {programs:?} is installed");
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
    // The dump says so itself, and does not call nanoseconds ticks.
    assert!(run.report.contains("PR_TSC_SIGSEGV"), "{}", run.report);
    assert!(run.report.contains("net ns"), "{}", run.report);
}

#[test]
fn disabled_rseq_leaves_interruptions_untold() {
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
    let run = Run::of(
        Command::new(valgrind)
            .args(["--quiet", "--error-exitcode=99"])
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

/// rr itself needs a PMU, so only what it leaves in the environment is tried.
#[test]
fn rr_is_told() {
    let run = Run::of(child().env("RUNNING_UNDER_RR", "1"));
    run.assert_complete();
    let emulation = run.finding("emulation");
    assert!(
        emulation.starts_with("BAD") && emulation.contains("rr"),
        "{emulation}"
    );
    assert!(run.report.contains("distrusted"), "{}", run.report);
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
