//! The sessions of `cargo tsc ab`, and parts of them.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use serde_json::Value;

use crate::program::Repository;
use crate::verdicts::Verdicts;

/// The sessions of both sides.
pub struct Sessions {
    pub folders: [PathBuf; 2],
}

const SIDES: [&str; 2] = ["before", "after"];

impl Sessions {
    /// The sessions with this name, which were measured or will be.
    pub fn named(repository: &Repository<'_>, name: &str) -> Self {
        let folder = repository.folder.join("target/tsc");
        Self {
            folders: SIDES.map(|side| folder.join(format!("{name}-{side}"))),
        }
    }

    /// Measures the revision `before` and another one.
    pub fn measure(
        tool: &Path,
        repository: &Repository<'_>,
        revision: &str,
        runs: u64,
        (name, option): (&str, &str),
    ) -> io::Result<()> {
        let output = Command::new(tool)
            .current_dir(&repository.folder)
            .env_remove("CARGO_TARGET_DIR")
            .args(["tsc", "ab", "before", revision, option, "--lenient"])
            .args(["--release", "--name", name, "-n", &runs.to_string()])
            .output()?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(io::Error::other(format!("ab {revision}: {said}")))
    }

    /// The sessions as if only these rounds had been measured.
    pub fn part(&self, rounds: Range<u64>) -> io::Result<Self> {
        let folder = self.folders[0].with_file_name(format!("part-{}", rounds.start));
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let part = Self {
            folders: SIDES.map(|side| folder.join(side)),
        };
        for ((from, to), other) in self
            .folders
            .iter()
            .zip(&part.folders)
            .zip(["after", "before"])
        {
            fs::create_dir_all(to)?;
            let mut about = about(from)?;
            let runs = about["runs"].as_array_mut().expect("a session has runs");
            runs.retain(|run| {
                run["round"]
                    .as_u64()
                    .is_some_and(|round| rounds.contains(&round))
            });
            for run in &*runs {
                let name = run["folder"].as_str().unwrap_or_default();
                fs::create_dir(to.join(name))?;
                for file in fs::read_dir(from.join(name))? {
                    let file = file?;
                    fs::copy(file.path(), to.join(name).join(file.file_name()))?;
                }
            }
            about["interleaved_with"] = other.into();
            fs::write(to.join("session.json"), about.to_string())?;
        }
        Ok(part)
    }

    /// What `cargo tsc diff` says of them.
    pub fn diff(&self, tool: &Path) -> io::Result<Verdicts> {
        let output = Command::new(tool)
            .args(["tsc", "diff", "--lenient", "--json"])
            .args(&self.folders)
            .output()?;
        let answer: Value = serde_json::from_slice(&output.stdout)
            .map_err(|_| io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))?;
        assert_eq!(
            answer["comparison"]["interleaved"], true,
            "the sessions are compared in turns"
        );
        Ok(Verdicts::of(&answer["comparison"]))
    }

    /// The rounds and the reports of a side's runs.
    pub fn reports(&self, side: usize) -> io::Result<Vec<(u64, Value)>> {
        let folder = &self.folders[side];
        let about = about(folder)?;
        let runs = about["runs"].as_array().into_iter().flatten();
        let report = |run: &Value| {
            let run_folder = folder.join(run["folder"].as_str().unwrap_or_default());
            let file = fs::read_dir(&run_folder)?
                .next()
                .ok_or(io::ErrorKind::NotFound)??;
            let report = serde_json::from_str(&fs::read_to_string(file.path())?)?;
            Ok((run["round"].as_u64().unwrap_or(0), report))
        };
        runs.map(report).collect()
    }
}

fn about(folder: &Path) -> io::Result<Value> {
    Ok(serde_json::from_str(&fs::read_to_string(
        folder.join("session.json"),
    )?)?)
}
