//! Runs programs.

use std::io;
use std::path::Path;
use std::process::Command;

use super::run::Run;

/// Runs the program, which calls its root so many times.
pub fn run(executable: &Path, turns: u64) -> io::Result<Run> {
    finish(Command::new(executable).arg(turns.to_string()))
}

/// Runs the program, which calls its root once, and records the call tree.
pub fn run_with_tree(executable: &Path) -> io::Result<Run> {
    finish(Command::new(executable).env("TSC_TREE", "1"))
}

fn finish(command: &mut Command) -> io::Result<Run> {
    let output = command.env("TSC_REPORT", "off").output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("the program failed: {said}")));
    }
    Run::parse(&text).ok_or_else(|| io::Error::other(format!("not a report: {text}")))
}
