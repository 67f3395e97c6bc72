//! A crate that is written, built and examined.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{env, fs, process};

use super::form::Dependency;
use crate::command::roster::{cargo, first_error};

/// What cargo took, in seconds.
#[derive(Clone, Copy)]
pub(crate) struct Time {
    pub(crate) clock: f64,
    /// Of it and all that it started: the same whatever else runs.
    pub(crate) cpu: f64,
}

/// It goes when it is dropped.
pub(crate) struct Project {
    path: PathBuf,
}

impl Project {
    pub(crate) fn new(name: &str, dependencies: &[Dependency]) -> Result<Self, String> {
        let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        let path = env::temp_dir().join(format!("peers-{}-{name}", process::id()));
        let project = Self { path };
        let lines: String = dependencies.iter().map(Dependency::line).collect();
        project.write(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"annotated\"\nedition = \"2024\"\n[workspace]\n[profile.release]\nstrip = true\n[dependencies]\n{lines}"
            ),
        )?;
        Ok(project)
    }

    pub(crate) fn write(&self, file: &str, text: &str) -> Result<(), String> {
        let path = self.path.join(file);
        let directory = path.parent().expect("a file is in a directory");
        fs::create_dir_all(directory)
            .and_then(|()| fs::write(&path, text))
            .map_err(|error| format!("{}: {error}", path.display()))
    }

    pub(crate) fn cargo(&self, arguments: &[&str]) -> Result<Time, String> {
        let before = children_seconds();
        let began = Instant::now();
        let output = self
            .command(arguments)
            .stdout(Stdio::null())
            .output()
            .map_err(|error| error.to_string())?;
        let time = Time {
            clock: began.elapsed().as_secs_f64(),
            cpu: children_seconds() - before,
        };
        let errors = String::from_utf8_lossy(&output.stderr);
        output
            .status
            .success()
            .then_some(time)
            .ok_or_else(|| first_error(&errors))
    }

    /// As if nothing was ever built.
    pub(crate) fn clean(&self) {
        let _ = fs::remove_dir_all(self.target());
    }

    pub(crate) fn target(&self) -> PathBuf {
        self.path.join("target")
    }

    pub(crate) fn dependencies(&self) -> Result<usize, String> {
        let tree = self
            .command(&[
                "tree",
                "--edges",
                "normal,build",
                "--prefix",
                "none",
                "--no-dedupe",
            ])
            .output()
            .map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&tree.stdout);
        let crates: HashSet<_> = text
            .lines()
            .filter_map(|line| line.split(" (").next())
            .filter(|line| !line.is_empty())
            .collect();
        Ok(crates.len() - 1)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(cargo());
        command
            .args(arguments)
            .current_dir(&self.path)
            .env("CARGO_TARGET_DIR", self.target())
            // Or all checks but the first would find that nothing has changed.
            .env("CARGO_INCREMENTAL", "0");
        command
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// CPU time of the processes that this one has started and waited for, and of theirs.
fn children_seconds() -> f64 {
    // SAFETY: all zeros is a valid rusage, and the call only writes one.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    [usage.ru_utime, usage.ru_stime]
        .iter()
        .map(|time| time.tv_sec as f64 + time.tv_usec as f64 / 1e6)
        .sum()
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}
