//! Runs programs, and reports how they ended.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result};

use crate::build::Executable;
use crate::input::Input;
use crate::interrupt::{self, Interrupted};
use crate::progress::announce;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ended {
    /// Its exit code, or 128 plus the signal that ended it.
    pub status: u8,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The time from start to end.
    pub seconds: f64,
    /// The CPU time of the program and of its children. `None` if the system does not tell.
    pub cpu_seconds: Option<f64>,
}

/// The destination of a program's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// That of this program's output.
    Shown,
    /// This program's standard error, so that its standard output only contains data.
    Aside,
    /// None.
    Hidden,
}

/// The programs that are run together, one after the other: `cargo test` has several.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The programs.
    pub programs: &'a [Executable],
    /// The folder for their reports. `None` if they write none.
    pub reports: Option<&'a Path>,
    /// Environment variables for them.
    pub variables: &'a [(&'static str, String)],
    /// The destination of their output.
    pub output: Output,
}

impl<'a> Batch<'a> {
    /// Programs that write no reports, and whose output is not shown.
    #[must_use]
    pub fn silent(programs: &'a [Executable]) -> Self {
        Self {
            programs,
            reports: None,
            variables: &[],
            output: Output::Hidden,
        }
    }

    /// Runs each program to its end. Returns the sum of their times, and how the first one that failed ended. After a signal, no other
    /// program is started, and all of them together count as ended by it.
    ///
    /// # Errors
    /// If a program cannot be started, or if a signal has ended the work before the first one.
    pub fn run_once(&self, input: &mut Input) -> Result<Ended> {
        let mut all = Ended {
            status: 0,
            signal: None,
            seconds: 0.0,
            cpu_seconds: Some(0.0),
        };
        for (number, program) in self.programs.iter().enumerate() {
            let ended = match self.execute(program, input) {
                // The reports of those before it are kept.
                Err(error) if number > 0 && error.is::<Interrupted>() => {
                    if all.status == 0 {
                        all.status = interrupt::status().unwrap_or_default();
                    }
                    break;
                }
                ended => ended.inspect_err(|_| {
                    // If nothing was started, the empty folder would pass for a run.
                    let _ = self.reports.map(std::fs::remove_dir);
                })?,
            };
            all.seconds += ended.seconds;
            let both = all.cpu_seconds.zip(ended.cpu_seconds);
            all.cpu_seconds = both.map(|(sum, seconds)| sum + seconds);
            if all.status == 0 {
                (all.status, all.signal) = (ended.status, ended.signal);
            }
        }
        Ok(all)
    }

    fn execute(&self, executable: &Executable, input: &mut Input) -> Result<Ended> {
        let mut command = self.command(executable)?;
        command.stdin(input.stdio()?);
        interrupt::check()?;
        announce(&command);
        let (start, cpu) = (Instant::now(), cpu_seconds_of_children());
        let mut child = command
            .spawn()
            .with_context(|| cannot_start(&executable.path))?;
        let passing = interrupt::pass_to(&child);
        let status = child.wait()?;
        drop(passing);
        let seconds = start.elapsed().as_secs_f64();
        let cpu_seconds = cpu_seconds_of_children()
            .zip(cpu)
            .map(|(end, start)| end - start);
        let signal = signal(status);
        let status = match (status.code(), signal) {
            (Some(code), _) => code as u8,
            (None, Some(signal)) => 128 + signal as u8,
            (None, None) => 255,
        };
        Ok(Ended {
            status,
            signal,
            seconds,
            cpu_seconds,
        })
    }

    fn command(&self, executable: &Executable) -> Result<Command> {
        let mut command = Command::new(&executable.path);
        command.args(&executable.arguments);
        let own = executable.environment.iter();
        command.envs(own.map(|(name, value)| (name, value)));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = &executable.folder {
            command.current_dir(folder);
        }
        match self.reports {
            Some(folder) => {
                // After `exec`, a process has the same number.
                let file = literally(&std::path::absolute(folder)?).join("%p-%t.json");
                command
                    .env("TSC_REPORT", "json")
                    .env("TSC_REPORT_FILE", file)
            }
            None => command.env("TSC_REPORT", "off"),
        };
        match self.output {
            Output::Shown => {}
            Output::Aside => drop(command.stdout(io::stderr())),
            Output::Hidden => drop(command.stdout(Stdio::null()).stderr(Stdio::null())),
        }
        Ok(command)
    }
}

/// The folder as the runtime has to be told it: each `%` begins a placeholder there, except in a path that is not UTF-8.
fn literally(folder: &Path) -> PathBuf {
    match folder.to_str() {
        Some(text) => text.replace('%', "%%").into(),
        None => folder.to_owned(),
    }
}

fn cannot_start(program: &Path) -> String {
    let path = program.display();
    // A word without a folder is often meant for the project's own program.
    if program.components().count() > 1 {
        format!("{path} cannot be started")
    } else {
        format!(
            "the program {path} cannot be started (`run -- run -- {path}` gives the word to the project's own program)"
        )
    }
}

/// The CPU time of all programs that this one has started and that have ended.
#[cfg(unix)]
fn cpu_seconds_of_children() -> Option<f64> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeVal;

    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Some(seconds(usage.user_time()) + seconds(usage.system_time()))
}

#[cfg(not(unix))]
fn cpu_seconds_of_children() -> Option<f64> {
    None
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<i32> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(path: &str) -> Executable {
        Executable {
            path: path.into(),
            arguments: Vec::new(),
            folder: None,
            environment: Vec::new(),
        }
    }

    #[test]
    fn run_that_does_not_start_leaves_no_folder() {
        let dir = tempfile::tempdir().unwrap();
        let reports = dir.path().join("001");
        std::fs::create_dir(&reports).unwrap();
        let programs = [program("/no/such/program")];
        let batch = Batch {
            reports: Some(&reports),
            ..Batch::silent(&programs)
        };
        batch.run_once(&mut Input::Inherited).unwrap_err();
        assert!(!reports.exists());
    }

    #[test]
    fn placeholders_in_the_path_of_a_project_stay() {
        let programs = [program("app")];
        let batch = Batch {
            reports: Some(Path::new("/50%t/%%/001")),
            ..Batch::silent(&programs)
        };
        let command = batch.command(&programs[0]).unwrap();
        let mut variables = command.get_envs();
        let file = variables.find(|(name, _)| *name == "TSC_REPORT_FILE");
        let file = file.and_then(|(_, value)| value).unwrap();
        let expected = Path::new("50%%t")
            .join("%%%%")
            .join("001")
            .join("%p-%t.json");
        assert!(Path::new(file).ends_with(expected), "{file:?}");
    }
}
