//! Runs a part of the workload under callgrind.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::{env, fs, process};

/// What callgrind counted in a part.
pub(crate) struct Profile(String);

/// Counts the instructions of the part's function named `counted_…` and of all that it calls.
pub(crate) fn profile(part: &str) -> Result<Profile, String> {
    let out = env::temp_dir().join(format!("instructions-{}", process::id()));
    let this = env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--toggle-collect=counted_*"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(this)
        .args(["--part", part])
        .env("TSC_REPORT", "off")
        // The clock of light probes should not tick.
        .env("TSC_TICK", "1s")
        .output();
    let output = output.map_err(|error| format!("valgrind cannot be run: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "valgrind: {}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    let profile = read(&out);
    let _ = fs::remove_file(&out);
    profile
}

fn read(out: &Path) -> Result<Profile, String> {
    fs::read_to_string(out)
        .map(Profile)
        .map_err(|error| format!("{}: {error}", out.display()))
}

impl Profile {
    /// All instructions.
    pub(crate) fn instructions(&self) -> Result<u64, String> {
        self.0
            .lines()
            .find_map(|line| line.strip_prefix("summary: "))
            .and_then(|sum| sum.trim().parse().ok())
            .filter(|&sum| sum != 0)
            .ok_or_else(|| "callgrind counted nothing".to_owned())
    }

    /// The instructions of the functions whose path has `name` in it, and of all that they call.
    ///
    /// Fails if there is no such call: then the function has another name now.
    pub(crate) fn instructions_in(&self, name: &str) -> Result<u64, String> {
        // A name is written out where its number comes first: `fn=(12) path`, and `cfn=(12)` later. The line after `calls=` ends
        // with the cost of those calls, `cfn` being what was called.
        let mut names = HashMap::new();
        let mut called = "";
        let mut sum = None;
        let mut lines = self.0.lines();
        while let Some(line) = lines.next() {
            if let Some((kind @ ("fn" | "cfn"), function)) = line.split_once('=') {
                let (number, path) = function.split_once(' ').unwrap_or((function, ""));
                let path = *names.entry(number).or_insert(path);
                if kind == "cfn" {
                    called = path;
                }
            } else if line.starts_with("calls=") && called.contains(name) {
                let cost = lines.next().and_then(|line| line.rsplit(' ').next());
                let cost: Option<u64> = cost.and_then(|cost| cost.parse().ok());
                let cost = cost.ok_or("callgrind's format is not the one known here")?;
                *sum.get_or_insert(0) += cost;
            }
        }
        sum.ok_or_else(|| {
            format!("no call of {name} was counted: is its name another one now? See src/parts.rs")
        })
    }
}
