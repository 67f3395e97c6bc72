//! The sessions of `cargo tsc ab`, and parts of them.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use cargo_tsc::statistics::median;
use serde_json::Value;

use crate::neighbours;
use crate::program::{Repository, row};
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
            return fs::write(
                Self::named(repository, name).load_file(),
                neighbours::load(),
            );
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(io::Error::other(format!("ab {revision}: {said}")))
    }

    fn load_file(&self) -> PathBuf {
        self.folders[0].with_extension("load")
    }

    /// The load at the end of the measurement.
    pub fn load(&self) -> io::Result<String> {
        fs::read_to_string(self.load_file())
    }

    /// A function's share of the program's time, and its calls, in the median run.
    pub fn weight(&self, function: &str) -> io::Result<String> {
        let (mut shares, mut calls) = (Vec::new(), Vec::new());
        for (_, report) in self.reports(0)? {
            let rows = report["callsites"].as_array().into_iter().flatten();
            let whole: f64 = rows.map(own).sum();
            let row = row(&report, function).ok_or(io::ErrorKind::NotFound)?;
            shares.push(own(row) / whole);
            calls.push(row["calls"].as_f64().unwrap_or(f64::NAN));
        }
        let [share, calls] = [shares, calls].map(|all| median(&all).unwrap_or(f64::NAN));
        Ok(format!("{:.0} %, {calls}", 100.0 * share))
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

/// The ticks of a row outside measured callees.
pub fn own(row: &Value) -> f64 {
    let own = row["self_on_cpu_ticks"].as_f64();
    own.or(row["self_ticks"].as_f64()).unwrap_or(0.0)
}
