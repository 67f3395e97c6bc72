//! Runs a part of the workload under callgrind.

use std::path::Path;
use std::process::Command;
use std::{env, fs, process};

/// Instructions in what the part counts, and in nothing that is called by `left_out`.
pub(crate) fn instructions(part: &str, left_out: &[&str]) -> Result<u64, String> {
    let out = env::temp_dir().join(format!("instructions-{}-{part}", process::id()));
    let this = env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--toggle-collect=counted_*"]);
    // Within a function that is counted, to enter one of these ends the counting and to leave it begins it again.
    command.args(
        left_out
            .iter()
            .map(|function| format!("--toggle-collect={function}")),
    );
    command.arg(format!("--callgrind-out-file={}", out.display()));
    let output = command
        .arg(this)
        .args(["--part", part])
        .env("TSC_REPORT", "off")
        .output();
    let output = output.map_err(|error| format!("valgrind cannot be run: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "valgrind: {}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    let counted = summary(&out);
    let _ = fs::remove_file(&out);
    counted.ok_or_else(|| format!("callgrind counted nothing in {part}"))
}

fn summary(out: &Path) -> Option<u64> {
    let text = fs::read_to_string(out).ok()?;
    text.lines()
        .find_map(|line| line.strip_prefix("summary: "))?
        .trim()
        .parse()
        .ok()
}
