//! Runs programs.

use std::io;
use std::path::Path;
use std::process::Command;

use super::run::Run;

/// Runs the program, which calls its root so many times.
pub fn run(executable: &Path, turns: u64) -> io::Result<Run> {
    finish(Command::new(executable).arg(turns.to_string()))
}

/// Runs a program that writes its report as JSON to this file, at its end alone, as `cargo tsc run --all` does with one that ends soon. Returns
/// what it prints.
pub fn run_with_report(command: &mut Command, file: &Path) -> io::Result<String> {
    output(
        command
            .env("TSC_REPORT", "json")
            .env("TSC_REPORT_FILE", file)
            .env("TSC_SIGNALS", "off"),
    )
}

/// Runs the program, which calls its root once, and records the call tree.
pub fn run_with_tree(executable: &Path) -> io::Result<Run> {
    finish(Command::new(executable).env("TSC_TREE", "1"))
}

fn finish(command: &mut Command) -> io::Result<Run> {
    let text = output(command.env("TSC_REPORT", "off"))?;
    Run::parse(&text).ok_or_else(|| io::Error::other(format!("not a report: {text}")))
}

/// What the command prints.
pub fn output(command: &mut Command) -> io::Result<String> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let program = command.get_program().display();
    Err(io::Error::other(format!("{program} failed: {said}")))
}
