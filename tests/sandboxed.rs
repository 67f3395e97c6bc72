//! Runs of the program `programs/sandboxed`, and sandboxes.

use std::path::PathBuf;
use std::process::Command;

/// Everything that a run of the child printed.
pub struct Run {
    /// On standard error.
    pub report: String,
    /// On standard output: the self-test, and the results of its work.
    pub findings: String,
}

impl Run {
    /// Runs the command, which must succeed.
    ///
    /// # Panics
    ///
    /// If it does not.
    #[track_caller]
    pub fn of(command: &mut Command) -> Self {
        let output = command
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
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn finding(&self, name: &str) -> String {
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

    /// Checks how the self-test's lines on `name` begin, and that they contain a text.
    ///
    /// # Panics
    ///
    /// If not.
    #[track_caller]
    pub fn assert_found(&self, name: &str, verdict: &str, text: &str) {
        let finding = self.finding(name);
        assert!(
            finding.starts_with(verdict) && finding.contains(text),
            "{finding}"
        );
    }

    /// Checks that every call was counted and that the program's own result is right.
    ///
    /// # Panics
    ///
    /// If not.
    pub fn assert_complete(&self) {
        let row = self
            .report
            .lines()
            .find(|line| line.starts_with(":CLK: sum_of_squares"))
            .unwrap_or_else(|| panic!("no row in:\n{}", self.report));
        assert!(row.split_whitespace().any(|word| word == "2,000"), "{row}");
        assert!(
            self.findings.contains("sums: (328350, Some(328350))"),
            "{}",
            self.findings
        );
    }
}

/// The first of these programs that is installed. If none is, prints that the test is skipped.
#[must_use]
pub fn installed(programs: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|folder| programs.iter().map(move |program| folder.join(program)))
        .find(|program| program.is_file());
    if found.is_none() {
        crate::skipped(&format!("none of {programs:?} is installed"));
    }
    found
}

/// Makes these system calls fail with EPERM from now on, in this thread and in those that it spawns.
///
/// # Panics
///
/// If the kernel refuses that.
#[cfg(target_os = "linux")]
pub fn forbid(calls: &[libc::c_long]) {
    filter(calls, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32);
}

/// Makes these system calls kill the process from now on, in this thread and in those that it spawns.
///
/// # Panics
///
/// If the kernel refuses that.
#[cfg(target_os = "linux")]
pub fn kill_for(calls: &[libc::c_long]) {
    filter(calls, libc::SECCOMP_RET_KILL_PROCESS);
}

#[cfg(target_os = "linux")]
fn filter(calls: &[libc::c_long], action: u32) {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    // Loads the system call's number, does this if it is one of `calls`, and allows it otherwise.
    let mut program = vec![step(LOAD, 0, 0, 0)];
    for &call in calls {
        program.push(step(IF_EQUAL, 0, 1, call as u32));
        program.push(step(RETURN, 0, 0, action));
    }
    program.push(step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW));
    let filter = libc::sock_fprog {
        len: program.len() as u16,
        filter: program.as_mut_ptr(),
    };
    // SAFETY: the filter points to the program, which outlives the call.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(
            libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::SECCOMP_MODE_FILTER,
                &raw const filter
            ),
            0
        );
    }
}
